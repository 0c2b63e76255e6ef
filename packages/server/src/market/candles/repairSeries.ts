import { parseCandleText, isFlat } from './candleText.ts'
import type { EndedCandles, EndedRange } from './endedCandles.ts'
import { MAX_CANDLES } from './limits.ts'
import { mergeHistory, type CandlesByTime, type Upstream } from './upstream.ts'
import type { Ohlc } from '../feed/pages.ts'
import type { Series } from './series.ts'

/** The places where candles are read from and kept. */
export interface CandleSources {
  readonly upstream: Upstream
  readonly ended: EndedCandles
}

/** A request to the upstream, with the state of the series at that moment. */
interface Question {
  readonly fromMs: number
  readonly toMs: number
  readonly gaps: number
  readonly runningMs: number
  readonly hadTicks: boolean
}

/**
 * Reads the candles that were not completely observed from the upstream. The series goes on meanwhile, and what is not
 * certain afterwards stays unseen, to be read again. Returns true when candles may have changed. Throws
 * `FeedUnavailableError`.
 */
export async function repairSeries(series: Series, { upstream, ended }: CandleSources): Promise<boolean> {
  const question = questionOf(series)
  if (question === undefined) return false
  const { fromMs, toMs, runningMs } = question
  const history = await upstream.history({ ...series, fromMs, toMs })
  const lastEndedMs = Math.min(toMs, runningMs - series.widthMs)
  const own = await ownCandles(ended, { ...series, fromMs: fromMs - series.widthMs, toMs: lastEndedMs })
  /** True when more was missed in the meantime. The page is still used, but the whole range stays unseen. */
  const isOutdated = series.gaps !== question.gaps
  if (history === undefined) {
    if (!isOutdated) series.unseen = undefined
    return false
  }
  const merged = mergeHistory({ fromMs, toMs: lastEndedMs, widthMs: series.widthMs, history, own })
  keep(series, ended, merged)
  if (!isOutdated) settleUnseen(series, question, history.get(runningMs))
  return true
}

/** Returns the stored candles of a range by the time they begin. */
export async function ownCandles(ended: EndedCandles, range: EndedRange): Promise<CandlesByTime> {
  const fromMs = Math.max(0, range.fromMs)
  const texts = await ended.read({ ...range, fromMs })
  const candles = new Map<number, Ohlc>()
  for (const [at, text] of texts.entries()) {
    if (text !== undefined) candles.set(fromMs + at * range.widthMs, parseCandleText(text))
  }
  return candles
}

function questionOf({ unseen, timeMs, gaps, since, widthMs }: Series): Question | undefined {
  if (unseen === undefined) return undefined
  const { toMs } = unseen
  const fromMs = Math.max(unseen.fromMs, toMs - (MAX_CANDLES - 1) * widthMs)
  return { fromMs, toMs, gaps, runningMs: timeMs, hadTicks: since !== undefined }
}

function keep(series: Series, ended: EndedCandles, candles: CandlesByTime): void {
  for (const [timeMs, ohlc] of candles) ended.put(series, timeMs, ohlc)
  series.lastClose = candles.get(series.timeMs - series.widthMs)?.close ?? series.lastClose
  series.version += 1
}

function settleUnseen(series: Series, question: Question, running: Ohlc | undefined): void {
  const { toMs, runningMs } = question
  if (toMs < runningMs) series.unseen = undefined
  else if (series.timeMs === runningMs) continueRunning(series, running, question)
  // The candle ended while the upstream was asked, so the page may not contain all of it.
  else series.unseen = { fromMs: runningMs, toMs: series.unseen!.toMs, again: undefined }
}

function continueRunning(series: Series, row: Ohlc | undefined, { hadTicks, runningMs }: Question): void {
  series.before = row ?? series.before
  const isUncertain = !hadTicks && (row === undefined || isFlat(row))
  series.unseen = { fromMs: runningMs, toMs: runningMs, again: isUncertain ? 'at a tick' : 'at the end' }
}
