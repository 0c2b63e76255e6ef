import { CANDLE_INTERVALS, type CandleInterval, type Price } from '@bezel/protocol'
import { MAX_CANDLES } from './limits.ts'
import type { Ohlc } from '../feed/pages.ts'
import { flatOhlc, joinOhlc } from './candleText.ts'

/**
 * Open, high, low and close of the ticks of one stretch of time. Mutated in place, because every tick of every pair
 * updates it.
 */
interface Ticks extends Ohlc {
  open: Price
  high: Price
  low: Price
  close: Price
  openedAtMs: number
  closedAtMs: number
}

/**
 * The candles of one series that were not observed from begin to end, so that the upstream knows better: those that
 * begin in `[fromMs, toMs]`.
 */
export interface Unseen {
  fromMs: number
  toMs: number
  /**
   * Set when the running candle was read and must be read again. `at the end`: always, because a page may be older than
   * it looks. `at a tick`: when the page showed a single price, which is also how a candle without ticks looks; then
   * the first tick sets the open.
   */
  again: 'at the end' | 'at a tick' | undefined
}

/** The candles of one pair and one width, up to the running one. Ended candles are passed on and not kept here. */
export interface Series {
  readonly pairIndex: number
  readonly interval: CandleInterval
  readonly widthMs: number
  /** Time at which the running candle began. */
  timeMs: number
  /**
   * The known part of the running candle from before this connection: from an earlier connection, the store, or the
   * upstream.
   */
  before: Ohlc | undefined
  /** The running candle's ticks of this connection. */
  since: Ticks | undefined
  /**
   * The feed's time at which this connection began to be observed. An older tick that arrives later does not change the
   * close.
   */
  sinceMs: number
  /** Close of the candle before the running one; `undefined` while the pair has no price. */
  lastClose: Price | undefined
  unseen: Unseen | undefined
  /**
   * Counts the stretches that were not observed, so that a page requested before such a stretch is recognised as
   * outdated after it.
   */
  gaps: number
  /** The feed's time of the last tick; `undefined` before the first one, and where an older version kept the state. */
  heardAtMs: number | undefined
  /** Counts changes of the running candle. */
  version: number
}

/** Receives an ended candle. */
export type OnEnded = (series: Series, timeMs: number, ohlc: Ohlc) => void

/** Creates a series of which only the time is known. */
export function createSeries(pairIndex: number, interval: CandleInterval, clockMs: number): Series {
  const widthMs = CANDLE_INTERVALS[interval]
  const timeMs = beginOf(clockMs, widthMs)
  return {
    pairIndex,
    interval,
    widthMs,
    timeMs,
    before: undefined,
    since: undefined,
    sinceMs: clockMs,
    lastClose: undefined,
    unseen: { fromMs: timeMs, toMs: timeMs, again: undefined },
    gaps: 0,
    heardAtMs: undefined,
    version: 0,
  }
}

/**
 * Returns the begin of the candle that contains an instant. An instant at a boundary belongs to the candle that begins
 * there.
 */
export function beginOf(ms: number, widthMs: number): number {
  return ms - (ms % widthMs)
}

/** Returns the running candle. Without ticks it carries the last close; `undefined` while the pair has no price. */
export function runningOhlc({ before, since, lastClose }: Series): Ohlc | undefined {
  return joinOhlc(before, since) ?? (lastClose === undefined ? undefined : flatOhlc(lastClose))
}

/** Notes that ticks before `sinceMs` may be missing and that the series is observed again from then on. */
export function endGap(series: Series, sinceMs: number): void {
  series.sinceMs = sinceMs
  series.before = joinOhlc(series.before, series.since)
  series.since = undefined
  addUnseen(series, series.timeMs)
}

/** Ends the running candle when its time is over, and the candles without ticks up to `clockMs`. */
export function advanceSeries(series: Series, clockMs: number, onEnded: OnEnded): void {
  const nextMs = beginOf(clockMs, series.widthMs)
  if (nextMs <= series.timeMs) return
  const ended = runningOhlc(series)
  const isTooLong = (nextMs - series.timeMs) / series.widthMs > MAX_CANDLES
  if (ended !== undefined && !isTooLong) endCandles(series, ended, nextMs, onEnded)
  series.unseen = isTooLong ? { fromMs: nextMs, toMs: nextMs, again: undefined } : unseenAfter(series, nextMs)
  series.lastClose = ended?.close
  series.timeMs = nextMs
  series.before = undefined
  series.since = undefined
  series.version += 1
}

/** Adds a tick. Its time must not be after the running candle, so the series is advanced first. */
export function addTickTo(series: Series, price: Price, timeMs: number): void {
  if (timeMs < series.timeMs || timeMs < series.sinceMs) return addUnseen(series, beginOf(timeMs, series.widthMs))
  // The tick may be older than the open of `before`, which has no time of its own but is not after the first tick that
  // was received.
  const isFirst = series.since !== undefined && timeMs < series.since.openedAtMs
  if (isFirst && series.before !== undefined) addUnseen(series, series.timeMs)
  series.since = addTick(series.since, price, timeMs)
  series.heardAtMs = Math.max(series.heardAtMs ?? timeMs, timeMs)
  series.version += 1
}

/** Returns true when the upstream can know more than the series does. */
export function isReadable({ unseen, since }: Series): boolean {
  if (unseen === undefined) return false
  return unseen.again === undefined || (unseen.again === 'at a tick' && since !== undefined)
}

function endCandles(series: Series, ended: Ohlc, nextMs: number, onEnded: OnEnded): void {
  onEnded(series, series.timeMs, ended)
  const carried = flatOhlc(ended.close)
  for (let ms = series.timeMs + series.widthMs; ms < nextMs; ms += series.widthMs) onEnded(series, ms, carried)
}

/**
 * Returns what stays unseen when the running candle ends. As long as a pair has not ticked since a gap, its price is
 * not known, and neither are the candles that carry it.
 */
function unseenAfter({ unseen, since, timeMs }: Series, nextMs: number): Unseen | undefined {
  if (unseen === undefined) return undefined
  const isStillUnknown = unseen.again === undefined && unseen.toMs === timeMs && since === undefined
  return { fromMs: unseen.fromMs, toMs: isStillUnknown ? nextMs : unseen.toMs, again: undefined }
}

/** Marks candles from `fromMs` to the running one as unseen, because later candles may carry the close of the first. */
function addUnseen(series: Series, fromMs: number): void {
  const earliestMs = Math.min(series.unseen?.fromMs ?? fromMs, fromMs)
  series.unseen = { fromMs: earliestMs, toMs: series.timeMs, again: undefined }
  series.gaps += 1
}

/**
 * Adds a tick by its time: a tick that arrives out of order changes the open or the close only if it is the earliest or
 * the latest.
 */
function addTick(ticks: Ticks | undefined, price: Price, timeMs: number): Ticks {
  if (ticks === undefined) {
    return { open: price, high: price, low: price, close: price, openedAtMs: timeMs, closedAtMs: timeMs }
  }
  if (price > ticks.high) ticks.high = price
  else if (price < ticks.low) ticks.low = price
  if (timeMs >= ticks.closedAtMs) {
    ticks.close = price
    ticks.closedAtMs = timeMs
  } else if (timeMs < ticks.openedAtMs) {
    ticks.open = price
    ticks.openedAtMs = timeMs
  }
  return ticks
}
