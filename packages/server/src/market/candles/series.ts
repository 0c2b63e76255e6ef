import { CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'
import { MAX_CANDLES } from './limits.ts'
import { flatOhlc, joinOhlc, type Ohlc } from './ohlc.ts'
import { addTick, type Ticks } from './ticks.ts'

/**
 * Candles of one pair and width that were not observed from their beginning to their end, so the upstream knows better: those that begin
 * in `[fromMs, toMs]`.
 */
export interface Unseen {
  fromMs: number
  toMs: number
  /**
   * The running candle was read, and is to be read again: at its end, because a page may be older than it looks; and at the first tick, when
   * the page showed one price alone, because that is also what a candle without any tick looks like, whose open is the tick's.
   */
  again: 'at the end' | 'at a tick' | undefined
}

/** One pair's candles of one width, up to the running one. Ended ones are handed on and not kept here. */
export interface Series {
  readonly pairIndex: number
  readonly interval: CandleInterval
  readonly widthMs: number
  /** When the running candle began. */
  timeMs: number
  /** What is known of the running candle from before this connection: of an earlier one, of the store, or of the upstream. */
  before: Ohlc | undefined
  /** Its ticks of this connection. */
  since: Ticks | undefined
  /** The feed's time from which on this connection was listened to. An older tick that comes all the same does not tell the close. */
  sinceMs: number
  /** Close of the candle before the running one; `undefined` while the pair has no price. */
  lastClose: bigint | undefined
  unseen: Unseen | undefined
  /** Counts stretches that were not listened to, so that what was asked before one is known to be of no use after it. */
  gaps: number
  /** Counts changes of the running candle. */
  version: number
}

/** Takes an ended candle. */
export type OnEnded = (series: Series, timeMs: number, ohlc: Ohlc) => void

/** A series of which nothing is known but the time. */
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
    version: 0,
  }
}

/** When the candle of an instant begins: an instant at a boundary belongs to the candle that begins there. */
export function beginOf(ms: number, widthMs: number): number {
  return ms - (ms % widthMs)
}

/** The running candle; one without ticks carries the last close. `undefined` while the pair has no price. */
export function runningOhlc({ before, since, lastClose }: Series): Ohlc | undefined {
  return joinOhlc(before, since) ?? (lastClose === undefined ? undefined : flatOhlc(lastClose))
}

/** Ticks may be missing up to a time, from which on it is listened again. */
export function endGap(series: Series, sinceMs: number): void {
  series.sinceMs = sinceMs
  series.before = joinOhlc(series.before, series.since)
  series.since = undefined
  addUnseen(series, series.timeMs)
}

/** Ends the running candle when the time has come, and those between without ticks. */
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

/** A tick, which must not be of the future: the series is advanced first. */
export function addTickTo(series: Series, price: bigint, timeMs: number): void {
  if (timeMs < series.timeMs || timeMs < series.sinceMs) return addUnseen(series, beginOf(timeMs, series.widthMs))
  // It may be older than what `before` opened with, which has no time but is not after the first tick that was heard.
  const isFirst = series.since !== undefined && timeMs < series.since.openedAtMs
  if (isFirst && series.before !== undefined) addUnseen(series, series.timeMs)
  series.since = addTick(series.since, price, timeMs)
  series.version += 1
}

/** Whether the upstream can tell more than is known. */
export function isReadable({ unseen, since }: Series): boolean {
  if (unseen === undefined) return false
  return unseen.again === undefined || (unseen.again === 'at a tick' && since !== undefined)
}

function endCandles(series: Series, ended: Ohlc, nextMs: number, onEnded: OnEnded): void {
  onEnded(series, series.timeMs, ended)
  const carried = flatOhlc(ended.close)
  for (let ms = series.timeMs + series.widthMs; ms < nextMs; ms += series.widthMs) onEnded(series, ms, carried)
}

/** As long as nothing was heard of a pair since a gap, its price is not known and so is no candle that carries it. */
function unseenAfter({ unseen, since, timeMs }: Series, nextMs: number): Unseen | undefined {
  if (unseen === undefined) return undefined
  const isStillUnknown = unseen.again === undefined && unseen.toMs === timeMs && since === undefined
  return { fromMs: unseen.fromMs, toMs: isStillUnknown ? nextMs : unseen.toMs, again: undefined }
}

/** Up to the running candle: those after it may carry its close. */
function addUnseen(series: Series, fromMs: number): void {
  const earliestMs = Math.min(series.unseen?.fromMs ?? fromMs, fromMs)
  series.unseen = { fromMs: earliestMs, toMs: series.timeMs, again: undefined }
  series.gaps += 1
}
