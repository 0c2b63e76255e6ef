import { ApiError, CANDLE_INTERVALS, type Candle, type CandleInterval } from '@bezel/protocol'
import { FeedUnavailableError } from '../feed/pages.ts'
import { notReady } from '../../ground/notReady.ts'
import { createCandleAnswers, type AnswerRange } from './candleAnswers.ts'
import { candleOf, candleText } from './candleText.ts'
import type { ListeningSeries } from './listeningSeries.ts'
import { createReadEnded } from './readEnded.ts'
import type { Repairs } from './repairs.ts'
import type { CandleSources } from './repairSeries.ts'
import { beginOf, runningOhlc, type Series } from './series.ts'

/** Candles that begin in `[fromMs, toMs]`: at most `MAX_CANDLES` of them. */
export interface CandleRange {
  readonly interval: CandleInterval
  readonly fromMs: number
  readonly toMs: number
}

export interface CandleReads {
  /** `{"data": Candle[]}` as bytes, oldest first. Throws `NOT_READY` or `UPSTREAM_UNAVAILABLE`. */
  list(pairIndex: number, range: CandleRange): Promise<Buffer>
  /** The last ones up to the running one, oldest first. Throws as `list` does. */
  recent(pairIndex: number, interval: CandleInterval, count: number): Promise<readonly Candle[]>
  /** The running candle, as far as it is known; `undefined` while the pair has no price. */
  current(pairIndex: number, interval: CandleInterval): Candle | undefined
}

export interface CandleReadsOptions extends CandleSources {
  readonly now: () => number
  readonly repairs: Pick<Repairs, 'repair'>
  /** A promise while what was kept is still being read. */
  readonly listening: () => ListeningSeries | Promise<ListeningSeries | undefined>
}

const NO_CANDLES = Buffer.from('{"data":[]}')

export function createCandleReads(options: CandleReadsOptions): CandleReads {
  const answers = createCandleAnswers(options.ended, createReadEnded(options))

  async function seriesOf(pairIndex: number, interval: CandleInterval): Promise<Series> {
    const series = (await options.listening())?.of(pairIndex, interval)
    if (series === undefined) throw notReady('starting')
    return series
  }

  async function answer(series: Series, range: AnswerRange): Promise<Buffer> {
    try {
      // What is older than all that was missed needs no repair.
      if (series.unseen !== undefined && range.toMs >= series.unseen.fromMs) await options.repairs.repair(series)
      const bounded = { fromMs: range.fromMs, toMs: Math.min(range.toMs, series.timeMs) }
      if (bounded.fromMs > bounded.toMs) return NO_CANDLES
      return answers.ready(series, bounded) ?? (await answers.make(series, bounded))
    } catch (error) {
      throw error instanceof FeedUnavailableError ? upstreamUnavailable() : error
    }
  }

  return {
    async list(pairIndex, { interval, fromMs, toMs }) {
      const widthMs = CANDLE_INTERVALS[interval]
      const series = await seriesOf(pairIndex, interval)
      return answer(series, { fromMs: Math.ceil(fromMs / widthMs) * widthMs, toMs: beginOf(toMs, widthMs) })
    },
    async recent(pairIndex, interval, count) {
      const series = await seriesOf(pairIndex, interval)
      const fromMs = Math.max(0, series.timeMs - (count - 1) * series.widthMs)
      const bytes = await answer(series, { fromMs, toMs: Number.MAX_SAFE_INTEGER })
      return (JSON.parse(bytes.toString('latin1')) as { readonly data: readonly Candle[] }).data
    },
    current(pairIndex, interval) {
      const listening = options.listening()
      const series = listening instanceof Promise ? undefined : listening.of(pairIndex, interval)
      const ohlc = series === undefined ? undefined : runningOhlc(series)
      return series === undefined || ohlc === undefined ? undefined : candleOf(series.timeMs, candleText(ohlc))
    },
  }
}

function upstreamUnavailable(): ApiError {
  return new ApiError('UPSTREAM_UNAVAILABLE', 'The price history behind the service did not answer. Retry.')
}
