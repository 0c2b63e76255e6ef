import { deleteCandleRows, readCandleRows, writeCandleRow } from '../../store/candleStore.ts'
import type { Sql, Store } from '../../store/sql.ts'
import { candleText, type CandleText } from './candleText.ts'
import { chunkBegin, chunkKey, chunkText, parseChunk, type Chunk, type ChunkPlace } from './chunk.ts'
import { CHUNK_CANDLES, FLUSH_ROWS, KEPT_CANDLES, MAX_CACHED_CHUNKS } from './limits.ts'
import type { Ohlc } from './ohlc.ts'
import { createRecent } from '../../ground/recent.ts'
import { createUnwrittenCandles, type Change } from './unwrittenCandles.ts'

/** One pair's candles of one width. */
export interface SeriesName {
  readonly pairIndex: number
  readonly widthMs: number
}

/** Which ended candles: those that begin in `[fromMs, toMs]`, both aligned. */
export interface EndedRange extends SeriesName {
  readonly fromMs: number
  readonly toMs: number
}

/** Ended candles: in memory where they are new or were asked for lately, in the store within what is kept. */
export interface EndedCandles {
  put(of: SeriesName, timeMs: number, ohlc: Ohlc): void
  /** Grows with every change of the series. */
  version(of: SeriesName): number
  /** One entry for each candle of the range; `undefined` where none is known. */
  read(range: EndedRange): Promise<readonly (CandleText | undefined)[]>
  /** Writes what was put since the last time. Not to be called again before it is done. */
  flush(nowMs: number): Promise<void>
}

export function createEndedCandles(store: Store): EndedCandles {
  const chunks = createRecent<string, Chunk>(MAX_CACHED_CHUNKS)
  const unwritten = createUnwrittenCandles()
  const versions = new Map<string, number>()

  /** All chunks of a range, in their order. */
  async function load(sql: Sql, range: EndedRange): Promise<readonly Chunk[]> {
    const places = placesOf(range)
    const known = places.map((place) => chunks.get(chunkKey(place)))
    if (known.every((chunk) => chunk !== undefined)) return known
    const [fromMs, toMs] = [places[0]!.beginMs, places.at(-1)!.beginMs]
    const rows = await readCandleRows(sql, { ...range, fromMs, toMs })
    const bodies = new Map(rows.map(({ beginMs, body }) => [beginMs, body]))
    return places.map((place) => {
      const key = chunkKey(place)
      // Looked up again: it may have been loaded, and changed, while the store was read.
      const chunk = chunks.get(key) ?? unwritten.applyTo(place, parseChunk(bodies.get(place.beginMs)))
      chunks.set(key, chunk)
      return chunk
    })
  }

  /** What is older than what is kept stays in memory alone, so that the store can't be filled by asking for it. */
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
    flush: (nowMs) =>
      unwritten.writeAll(FLUSH_ROWS, (batch) =>
        store.transaction(async (sql) => {
          for (const change of batch) await write(sql, change, nowMs)
        }),
      ),
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
