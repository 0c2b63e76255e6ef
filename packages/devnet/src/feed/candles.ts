import { MINUTE_MS } from './spanTree.ts'
import {
  flatFeedOhlc,
  type FeedOhlc,
  joinFeedOhlc,
  mapFeedOhlc,
  ohlcBetween,
  priceAt,
  type Timeline,
} from './timeline.ts'
import { DAY_MS } from '@bezel/protocol'
import { indexOf, type FeedMarket } from './markets.ts'

/** Widths of candles in minutes: each is a level of the walk's tree, or two of them. */
export const CANDLE_MINUTES: readonly number[] = [1, 5, 15, 30, 60, 240, 1440]

/** A candle of the mark price in `[timeMs, timeMs + width)`. */
export interface FeedCandle extends FeedOhlc {
  readonly timeMs: number
}

/** A range of candles: those that begin in [fromMs, toMs], as far as the market has existed. */
export interface CandleSpan {
  readonly fromMs: number
  readonly toMs: number
  readonly minutes: number
}

/** Counts the candles of a range. */
export function countCandles({ fromMs, toMs, minutes }: CandleSpan): number {
  const widthMs = minutes * MINUTE_MS
  return Math.max(0, Math.floor(toMs / widthMs) - Math.ceil(fromMs / widthMs) + 1)
}

/**
 * Returns candles aligned to the epoch, without gaps, from all prices published in each; nothing is sampled. A candle
 * in which the market was closed is flat at the last price. The last one ends at `nowMs`, the latest published instant.
 */
export function candlesOf(timeline: Timeline, range: CandleSpan, nowMs: number): readonly FeedCandle[] {
  const lived = { ...range, toMs: Math.min(range.toMs, nowMs) }
  const widthMs = range.minutes * MINUTE_MS
  const firstMs = Math.ceil(range.fromMs / widthMs) * widthMs
  return Array.from({ length: countCandles(lived) }, (_, at) =>
    candleAt(timeline, firstMs + at * widthMs, Math.min(firstMs + (at + 1) * widthMs, nowMs + 1)),
  )
}

function candleAt(timeline: Timeline, timeMs: number, toMs: number): FeedCandle {
  return { timeMs, ...(ohlcBetween(timeline, timeMs, toMs) ?? flatFeedOhlc(priceAt(timeline, toMs - 1))) }
}

/** The answer of an oracle for a time: first, highest, lowest and current price, 1e10. */
interface LookbackCandle {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly current: bigint
}

export interface Lookback {
  readonly mark: LookbackCandle
  readonly index: LookbackCandle
}

/** Longest time looked back, longer than any local chain lives. An older time is treated as this one. */
const MAX_LOOKBACK_MS = 90 * DAY_MS

/**
 * Returns the candle from the price in force at `fromMs` to the one at `nowMs`, with everything published in between.
 */
export function lookBack({ pair, timeline }: FeedMarket, fromMs: number, nowMs: number): Lookback {
  const sinceMs = Math.min(nowMs, Math.max(Math.floor(fromMs), nowMs - MAX_LOOKBACK_MS))
  const before = flatFeedOhlc(priceAt(timeline, sinceMs))
  const since = ohlcBetween(timeline, sinceMs + 1, nowMs + 1)
  const mark = since === undefined ? before : joinFeedOhlc(before, since)
  return { mark: lookbackCandle(mark), index: lookbackCandle(mapFeedOhlc(mark, (price) => indexOf(pair, price))) }
}

function lookbackCandle({ open, high, low, close }: FeedOhlc): LookbackCandle {
  return { open, high, low, current: close }
}
