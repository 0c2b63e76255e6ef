import { MINUTE_MS } from './levels.ts'
import { flatOhlc, type Ohlc } from './ohlc.ts'
import { ohlcBetween, priceAt, type Timeline } from './timeline.ts'

/** Widths that history can be asked for: each is a level of the walk's tree, or two of them. */
export const CANDLE_MINUTES: readonly number[] = [1, 5, 15, 30, 60, 240, 1440]

/** Mark price of `[timeMs, timeMs + width)`. */
export interface Candle extends Ohlc {
  readonly timeMs: number
}

/** Which candles: those that begin in [fromMs, toMs], as far as the market has lived. */
export interface CandleRange {
  readonly fromMs: number
  readonly toMs: number
  readonly minutes: number
}

/** How many candles a range covers. */
export function countCandles({ fromMs, toMs, minutes }: CandleRange): number {
  const widthMs = minutes * MINUTE_MS
  return Math.max(0, Math.floor(toMs / widthMs) - Math.ceil(fromMs / widthMs) + 1)
}

/**
 * Candles aligned to the epoch, without gaps: of all prices published in each, nothing sampled. One in which the market was closed is
 * flat at the last price. The last one ends at `nowMs`, the latest published instant.
 */
export function candlesOf(timeline: Timeline, range: CandleRange, nowMs: number): readonly Candle[] {
  const lived = { ...range, toMs: Math.min(range.toMs, nowMs) }
  const widthMs = range.minutes * MINUTE_MS
  const firstMs = Math.ceil(range.fromMs / widthMs) * widthMs
  return Array.from({ length: countCandles(lived) }, (_, at) =>
    candleAt(timeline, firstMs + at * widthMs, Math.min(firstMs + (at + 1) * widthMs, nowMs + 1)),
  )
}

function candleAt(timeline: Timeline, timeMs: number, toMs: number): Candle {
  return { timeMs, ...(ohlcBetween(timeline, timeMs, toMs) ?? flatOhlc(priceAt(timeline, toMs - 1))) }
}
