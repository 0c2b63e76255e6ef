import { deleteCandleRows, readCandleRows, writeCandleRow } from '../../store/candleStore.ts'
import type { Sql, Store } from '../../store/sql.ts'
import { candleText, type CandleText } from './candleText.ts'
import { CHUNK_CANDLES, FLUSH_ROWS, KEPT_CANDLES, MAX_CACHED_CHUNKS } from './limits.ts'
import type { Ohlc } from '../feed/pages.ts'
import { createLru } from '../../ground/lru.ts'

/** Consecutive ended candles of one series; `undefined` in the place of a candle that is not known. */
export type Chunk = (CandleText | undefined)[]

/** The position of a chunk: its series, and the time at which its first candle begins. */
export interface ChunkPlace {
  readonly pairIndex: number
  readonly widthMs: number
  readonly beginMs: number
}

const SEPARATOR = ';'

/** Names a series: the candles of one pair and one width. */
export interface SeriesName {
  readonly pairIndex: number
  readonly widthMs: number
}

/** A range of ended candles: those that begin in `[fromMs, toMs]`, both ends aligned. */
export interface EndedRange extends SeriesName {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Ended candles. New and recently requested ones are in memory; the store has the last `KEPT_CANDLES` of each series.
 */
export interface EndedCandles {
  put(of: SeriesName, timeMs: number, ohlc: Ohlc): void
  /** Returns a counter that grows with every change of the series. */
  version(of: SeriesName): number
  /** Returns one entry for each candle of the range; `undefined` where none is known. */
  read(range: EndedRange): Promise<readonly (CandleText | undefined)[]>
  /** Writes what was put since the last flush, by `to`. Must not be called again before it resolves. */
  flush(nowMs: number, to?: Store): Promise<void>
  /** Forgets what was put and ended before a time, because another node has written it. */
  forgetUnwritten(beforeMs: number): void
}

export function createEndedCandles(store: Store): EndedCandles {
  const chunks = createLru<string, Chunk>(MAX_CACHED_CHUNKS)
  const unwritten = createUnwrittenCandles()
  const versions = new Map<string, number>()

  /** Returns all chunks of a range in order, and reads those that are not in memory. */
  async function load(sql: Sql, range: EndedRange): Promise<readonly Chunk[]> {
    const places = placesOf(range)
    const known = places.map((place) => chunks.get(chunkKey(place)))
    if (known.every((chunk) => chunk !== undefined)) return known
    const [fromMs, toMs] = [places[0]!.beginMs, places.at(-1)!.beginMs]
    const rows = await readCandleRows(sql, { ...range, fromMs, toMs })
    const bodies = new Map(rows.map(({ beginMs, body }) => [beginMs, body]))
    return places.map((place) => {
      const key = chunkKey(place)
      // The cache is checked again, because the chunk may have been loaded and changed while the store was read.
      const chunk = chunks.get(key) ?? unwritten.applyTo(place, parseChunk(bodies.get(place.beginMs)))
      chunks.set(key, chunk)
      return chunk
    })
  }

  /**
   * Writes one chunk. Candles older than `KEPT_CANDLES` stay in memory only, so that requests for old ranges can't fill
   * the store.
   */
  async function write(sql: Sql, { place }: Change, nowMs: number): Promise<void> {
    const { widthMs, beginMs } = place
    const oldestMs = chunkBegin(Math.max(0, nowMs - KEPT_CANDLES * widthMs), widthMs)
    if (beginMs < oldestMs) return
    const [chunk] = await load(sql, { ...place, fromMs: beginMs, toMs: beginMs })
    await writeCandleRow(sql, place, chunkText(chunk!))
    const isNew = chunk!.filter((candle) => candle !== undefined).length === 1
    if (isNew) await deleteCandleRows(sql, { ...place, beginMs: oldestMs })
  }

  return {
    put({ pairIndex, widthMs }, timeMs, ohlc) {
      const place = { pairIndex, widthMs, beginMs: chunkBegin(timeMs, widthMs) }
      const at = (timeMs - place.beginMs) / widthMs
      const text = candleText(ohlc)
      unwritten.add(place, at, text)
      const chunk = chunks.get(chunkKey(place))
      if (chunk !== undefined) chunk[at] = text
      versions.set(seriesKey(place), (versions.get(seriesKey(place)) ?? 0) + 1)
    },
    version: (of) => versions.get(seriesKey(of)) ?? 0,
    async read(range) {
      if (range.toMs < range.fromMs) return []
      const loaded = (await load(store.read, range)).flat()
      const { widthMs, fromMs, toMs } = range
      const skipped = (fromMs - chunkBegin(fromMs, widthMs)) / widthMs
      return loaded.slice(skipped, skipped + (toMs - fromMs) / widthMs + 1)
    },
    flush: (nowMs, to = store) =>
      unwritten.writeAll(FLUSH_ROWS, (batch) =>
        to.transaction({ name: 'candles' }, async (sql) => {
          for (const change of batch) await write(sql, change, nowMs)
        }),
      ),
    forgetUnwritten: unwritten.forget,
  }
}

export function seriesKey({ pairIndex, widthMs }: SeriesName): string {
  return `${pairIndex} ${widthMs}`
}

function placesOf({ pairIndex, widthMs, fromMs, toMs }: EndedRange): readonly ChunkPlace[] {
  const first = chunkBegin(fromMs, widthMs)
  const stepMs = widthMs * CHUNK_CANDLES
  const length = (chunkBegin(toMs, widthMs) - first) / stepMs + 1
  return Array.from({ length }, (_, at) => ({ pairIndex, widthMs, beginMs: first + at * stepMs }))
}

/** Returns the begin of the chunk that contains a time. Chunks are aligned to the epoch, as candles are. */
function chunkBegin(timeMs: number, widthMs: number): number {
  return timeMs - (timeMs % (widthMs * CHUNK_CANDLES))
}

function chunkKey({ pairIndex, widthMs, beginMs }: ChunkPlace): string {
  return `${pairIndex} ${widthMs} ${beginMs}`
}

/** Returns the stored text of a chunk. Unknown candles become empty texts. */
function chunkText(chunk: Chunk): string {
  return chunk.join(SEPARATOR)
}

function parseChunk(text: string | undefined): Chunk {
  if (text === undefined) return Array.from({ length: CHUNK_CANDLES }, () => undefined)
  return text.split(SEPARATOR).map((candle) => (candle === '' ? undefined : candle))
}

/** Candles of one chunk that are not in the store yet, by their index in the chunk. */
interface Change {
  readonly place: ChunkPlace
  readonly candles: Map<number, CandleText>
}

/** Candles that were put and are not in the store yet. Readers see them on top of the store until they are written. */
interface UnwrittenCandles {
  add(place: ChunkPlace, at: number, text: CandleText): void
  /** Overwrites the stored candles of a chunk with the unwritten ones. */
  applyTo(place: ChunkPlace, chunk: Chunk): Chunk
  /**
   * Passes all changes to `write`, `batchSize` chunks at a time. Changes that could not be written are kept for the
   * next call. Must not be called again before it resolves.
   */
  writeAll(batchSize: number, write: (batch: readonly Change[]) => Promise<void>): Promise<void>
  /** Forgets the candles that ended before a time. */
  forget(beforeMs: number): void
}

function createUnwrittenCandles(): UnwrittenCandles {
  let changes = new Map<string, Change>()
  /** Changes that are being written now. */
  let writing = new Map<string, Change>()

  /** Returns unwritten changes to the queue. A newer value of the same candle wins. */
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
          // Lets all other pending work of the process run between two batches.
          await new Promise(setImmediate)
        }
      } finally {
        giveBack()
      }
    },
    forget(beforeMs) {
      for (const [key, { place, candles }] of changes) {
        for (const at of candles.keys()) {
          if (place.beginMs + (at + 1) * place.widthMs < beforeMs) candles.delete(at)
        }
        if (candles.size === 0) changes.delete(key)
      }
    },
  }
}
