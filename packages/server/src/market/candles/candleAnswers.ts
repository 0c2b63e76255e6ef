import { keptBytes } from '../../ground/keptBytes.ts'
import { candleJson, candleText, parseCandleText, type CandleText } from './candleText.ts'
import { seriesKey, type EndedCandles } from './endedCandles.ts'
import { MAX_CACHED_ANSWER_BYTES } from './limits.ts'
import type { ReadEnded } from './readEnded.ts'
import { createRecent } from '../../ground/recent.ts'
import { runningOhlc, type Series } from './series.ts'

/** Candles of one series that begin in `[fromMs, toMs]`, both aligned, and not after the running one. */
export interface AnswerRange {
  readonly fromMs: number
  readonly toMs: number
}

/** `{"data": Candle[]}` as bytes. */
export interface CandleAnswers {
  /** `undefined` when nothing ready is still true. */
  ready(series: Series, range: AnswerRange): Buffer | undefined
  make(series: Series, range: AnswerRange): Promise<Buffer>
}

interface Answer {
  readonly fromMs: number
  readonly endedVersion: number
  /** All but the running candle and what ends the text. */
  readonly endedText: string
  readonly version: number
  readonly bytes: Buffer
}

/** Ended candles hardly ever change, so their text is kept, and only the running one is added to it at each tick. */
export function createCandleAnswers(ended: EndedCandles, readEnded: ReadEnded): CandleAnswers {
  const answers = createRecent<string, Answer>(MAX_CACHED_ANSWER_BYTES, ({ bytes }) => bytes.length * 2)

  function finish(series: Series, { fromMs, toMs }: AnswerRange, endedVersion: number, endedText: string): Answer {
    const ohlc = toMs === series.timeMs ? runningOhlc(series) : undefined
    const running = ohlc === undefined ? '' : candleJson(series.timeMs, candleText(ohlc))
    const comma = running === '' || endedText === '' ? '' : ','
    const bytes = keptBytes(`{"data":[${endedText}${comma}${running}]}`, 'latin1')
    return { fromMs, endedVersion, endedText, version: series.version, bytes }
  }

  async function make(series: Series, range: AnswerRange): Promise<Buffer> {
    const { timeMs, widthMs } = series
    const endedVersion = ended.version(series)
    const texts = await readEnded({ ...series, fromMs: range.fromMs, toMs: Math.min(range.toMs, timeMs - widthMs) })
    // The candle that was running has ended meanwhile, so it is one of those to be read.
    if (series.timeMs !== timeMs) return make(series, range)
    const last = range.toMs === timeMs ? texts.at(-1) : undefined
    // A pair that has not ticked since the start, at an upstream that leaves out candles without ticks.
    if (last !== undefined) series.lastClose ??= parseCandleText(last).close
    const answer = finish(series, range, endedVersion, joinTexts(texts, range.fromMs, widthMs))
    answers.set(keyOf(series, range), answer)
    return answer.bytes
  }

  return {
    ready(series, range) {
      const key = keyOf(series, range)
      const known = answers.get(key)
      const endedVersion = ended.version(series)
      if (known?.fromMs !== range.fromMs || known.endedVersion !== endedVersion) return undefined
      if (known.version === series.version || range.toMs < series.timeMs) return known.bytes
      const answer = finish(series, range, endedVersion, known.endedText)
      answers.set(key, answer)
      return answer.bytes
    },
    make,
  }
}

/** Up to the running candle it is the length that counts: the answer of the next candle takes the place of this one's, which nobody asks for again. */
function keyOf(series: Series, { fromMs, toMs }: AnswerRange): string {
  const place = toMs === series.timeMs ? `last ${toMs - fromMs}` : `${fromMs} ${toMs}`
  return `${seriesKey(series)} ${place}`
}

function joinTexts(texts: readonly (CandleText | undefined)[], fromMs: number, widthMs: number): string {
  const candles: string[] = []
  for (const [at, text] of texts.entries()) {
    if (text !== undefined) candles.push(candleJson(fromMs + at * widthMs, text))
  }
  return candles.join(',')
}
