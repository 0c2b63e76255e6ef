import type { CandleText } from './candleText.ts'
import { CHUNK_CANDLES } from './limits.ts'

/** Consecutive ended candles of one series, by their place; one that is not known is `undefined`. */
export type Chunk = (CandleText | undefined)[]

/** Where a chunk stands: which series, and the beginning of its first candle. */
export interface ChunkPlace {
  readonly pairIndex: number
  readonly widthMs: number
  readonly beginMs: number
}

const SEPARATOR = ';'

/** Chunks are aligned to the epoch, as candles are. */
export function chunkBegin(timeMs: number, widthMs: number): number {
  return timeMs - (timeMs % (widthMs * CHUNK_CANDLES))
}

export function chunkKey({ pairIndex, widthMs, beginMs }: ChunkPlace): string {
  return `${pairIndex} ${widthMs} ${beginMs}`
}

/** What is not known is joined as an empty text. */
export function chunkText(chunk: Chunk): string {
  return chunk.join(SEPARATOR)
}

export function parseChunk(text: string | undefined): Chunk {
  if (text === undefined) return Array.from({ length: CHUNK_CANDLES }, () => undefined)
  return text.split(SEPARATOR).map((candle) => (candle === '' ? undefined : candle))
}
