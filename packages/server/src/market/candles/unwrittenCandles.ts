import type { CandleText } from './candleText.ts'
import { chunkKey, type Chunk, type ChunkPlace } from './chunk.ts'

/** Candles of one chunk that are not in the store yet, by their place in it. */
export interface Change {
  readonly place: ChunkPlace
  readonly candles: Map<number, CandleText>
}

/** What was put and is not in the store yet. It is seen by every reader until it is. */
export interface UnwrittenCandles {
  add(place: ChunkPlace, at: number, text: CandleText): void
  /** Puts what is not written over what the store has. */
  applyTo(place: ChunkPlace, chunk: Chunk): Chunk
  /** Hands everything to `write`, so many chunks at a time. What it could not write comes the next time. Not to be called before it is done. */
  writeAll(batchSize: number, write: (batch: readonly Change[]) => Promise<void>): Promise<void>
}

export function createUnwrittenCandles(): UnwrittenCandles {
  let changes = new Map<string, Change>()
  /** Being written now. */
  let writing = new Map<string, Change>()

  /** Unless it has changed since. */
  function giveBack(): void {
    for (const [key, { place, candles }] of writing) {
      changes.set(key, { place, candles: new Map([...candles, ...(changes.get(key)?.candles ?? [])]) })
    }
    writing = new Map()
  }

  return {
    add(place, at, text) {
      const key = chunkKey(place)
      const change = changes.get(key) ?? { place, candles: new Map() }
      change.candles.set(at, text)
      changes.set(key, change)
    },
    applyTo(place, chunk) {
      const key = chunkKey(place)
      for (const change of [writing.get(key), changes.get(key)]) {
        for (const [at, text] of change?.candles ?? []) chunk[at] = text
      }
      return chunk
    },
    async writeAll(batchSize, write) {
      writing = changes
      changes = new Map()
      const waiting = [...writing.values()]
      try {
        while (waiting.length > 0) {
          await write(waiting.slice(0, batchSize))
          for (const { place } of waiting.splice(0, batchSize)) writing.delete(chunkKey(place))
          // Everything else that the process has to do comes first.
          await new Promise(setImmediate)
        }
      } finally {
        giveBack()
      }
    },
  }
}
