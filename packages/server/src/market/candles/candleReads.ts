import { ApiError, CANDLE_INTERVALS, type Candle, type CandleInterval } from '@bezel/protocol'
import { FeedUnavailableError } from '../feed/pages.ts'
import { notReady } from '../../ground/unavailable.ts'
import { candleOf, candleText, candleJson, parseCandleText, type CandleText } from './candleText.ts'
import type { ListeningSeries } from './listeningSeries.ts'
import type { Repairs } from './repairs.ts'
import { type CandleSources, ownCandles } from './repairSeries.ts'
import { beginOf, runningOhlc, type Series } from './series.ts'
import { unpooledBytes } from '../../ground/unpooledBytes.ts'
import { seriesKey, type EndedCandles, type EndedRange } from './endedCandles.ts'
import { MAX_CACHED_ANSWER_BYTES, MAX_NOTHINGS, MAX_READINGS, NOTHING_OLDER_MS } from './limits.ts'
import { createLru } from '../../ground/lru.ts'
import { mergeHistory } from './upstream.ts'

/** Reads ended candles; `undefined` in the place of a candle that does not exist. Throws `FeedUnavailableError`. */
type ReadEnded = (range: EndedRange) => Promise<readonly (CandleText | undefined)[]>

/**
 * The candles of one series that begin in `[fromMs, toMs]`. Both ends are aligned to the width and not after the
 * running candle.
 */
interface AnswerRange {
  readonly fromMs: number
  readonly toMs: number
}

/** Answers of the form `{"data": Candle[]}` as bytes. */
interface CandleAnswers {
  /** Returns the answer from memory; `undefined` when there is none that is still correct. */
  ready(series: Series, range: AnswerRange): Buffer | undefined
  make(series: Series, range: AnswerRange): Promise<Buffer>
}

interface Answer {
  readonly fromMs: number
  readonly endedVersion: number
  /** JSON of the ended candles: everything but the running candle and the closing brackets. */
  readonly endedText: string
  readonly version: number
  readonly bytes: Buffer
}

/** The candles that begin in `[fromMs, toMs]`, at most `MAX_CANDLES` of them. */
export interface CandleWindow {
  readonly interval: CandleInterval
  readonly fromMs: number
  readonly toMs: number
}

export interface CandleReads {
  /** Returns `{"data": Candle[]}` as bytes, oldest first. Throws `NOT_READY` or `UPSTREAM_UNAVAILABLE`. */
  list(pairIndex: number, range: CandleWindow): Promise<Buffer>
  /** Returns the last `count` candles up to the running one, oldest first. Throws what `list` throws. */
  recent(pairIndex: number, interval: CandleInterval, count: number): Promise<readonly Candle[]>
  /** Returns the running candle as far as it is known; `undefined` while the pair has no price. */
  current(pairIndex: number, interval: CandleInterval): Candle | undefined
}

export interface CandleReadsOptions extends CandleSources {
  readonly now: () => number
  readonly repairs: Pick<Repairs, 'repair'>
  /** Returns the series, or a promise while the stored state is still being read. */
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
      // A range that ends before the oldest missed candle needs no repair.
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

/** Caches the text of ended candles, which hardly ever change. Each tick only replaces the running candle behind it. */
function createCandleAnswers(ended: EndedCandles, readEnded: ReadEnded): CandleAnswers {
  // Counts the text, the bytes and the compressed forms that may be kept beside them.
  const answers = createLru<string, Answer>(MAX_CACHED_ANSWER_BYTES, ({ bytes }) => bytes.length * 3)

  function finish(series: Series, { fromMs, toMs }: AnswerRange, endedVersion: number, endedText: string): Answer {
    const ohlc = toMs === series.timeMs ? runningOhlc(series) : undefined
    const running = ohlc === undefined ? '' : candleJson(series.timeMs, candleText(ohlc))
    const comma = running === '' || endedText === '' ? '' : ','
    const bytes = unpooledBytes(`{"data":[${endedText}${comma}${running}]}`, 'latin1')
    return { fromMs, endedVersion, endedText, version: series.version, bytes }
  }

  async function make(series: Series, range: AnswerRange): Promise<Buffer> {
    const { timeMs, widthMs } = series
    const endedVersion = ended.version(series)
    const texts = await readEnded({ ...series, fromMs: range.fromMs, toMs: Math.min(range.toMs, timeMs - widthMs) })
    // The candle that was running has ended in the meantime, so it must be read too.
    if (series.timeMs !== timeMs) return make(series, range)
    const last = range.toMs === timeMs ? texts.at(-1) : undefined
    // The pair has not ticked since the start, and the upstream leaves out candles without ticks: the last close is
    // taken from the history.
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

/**
 * Returns the cache key. A range up to the running candle is named by its length, so that the answer for the next
 * candle replaces this one, which nobody asks for again.
 */
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

/**
 * A range in which the upstream had no candles: those that begin in `[fromMs, beginMs)`. It may still have older ones,
 * when it leaves out candles without ticks.
 */
interface Nothing {
  readonly fromMs: number
  readonly beginMs: number
  /** Time until which that is trusted. */
  readonly untilMs: number
}

/** A range that is being read from the upstream, or that waits for other reads that overlap it. */
interface Reading extends EndedRange {
  readonly done: Promise<void>
}

/** Reads candles that are not stored from the upstream when they are requested, and stores them. */
export function createReadEnded({ upstream, ended, now }: CandleSources & { readonly now: () => number }): ReadEnded {
  /** Empty ranges by series, the newest last. */
  const nothings = new Map<string, readonly Nothing[]>()
  const readings = new Map<string, Set<Reading>>()

  function believed(key: string): readonly Nothing[] {
    return (nothings.get(key) ?? []).filter(({ untilMs }) => now() <= untilMs)
  }

  async function fill(key: string, range: EndedRange): Promise<void> {
    const missing = missingOf(await ended.read(range), range, believed(key))
    if (missing === undefined) return
    const history = (await upstream.history(missing)) ?? new Map()
    const own = await ownCandles(ended, { ...missing, fromMs: missing.fromMs - missing.widthMs })
    const merged = mergeHistory({ ...missing, history, own })
    for (const [timeMs, ohlc] of merged) ended.put(missing, timeMs, ohlc)
    const { fromMs, toMs, widthMs } = missing
    const [beginMs = toMs + widthMs] = merged.keys()
    const nothing = { fromMs, beginMs, untilMs: now() + NOTHING_OLDER_MS }
    if (beginMs > fromMs) nothings.set(key, [...believed(key), nothing].slice(-MAX_NOTHINGS))
  }

  /** Reads a range: joins a read that covers all of it, and waits for those that overlap a part of it. */
  function read(key: string, range: EndedRange): Promise<void> {
    const ofSeries = readings.get(key) ?? new Set()
    const whole = [...ofSeries].find(({ fromMs, toMs }) => fromMs <= range.fromMs && range.toMs <= toMs)
    if (whole !== undefined) return whole.done
    if (ofSeries.size >= MAX_READINGS) throw new FeedUnavailableError('too many old ranges of one series are read')
    const parts = [...ofSeries].filter(({ fromMs, toMs }) => fromMs <= range.toMs && range.fromMs <= toMs)
    const reading = { ...range, done: Promise.allSettled(parts.map(({ done }) => done)).then(() => fill(key, range)) }
    readings.set(key, ofSeries.add(reading))
    const forget = (): void => {
      ofSeries.delete(reading)
      if (ofSeries.size === 0) readings.delete(key)
    }
    reading.done.then(forget, forget)
    return reading.done
  }

  return async (range) => {
    const key = seriesKey(range)
    const known = await ended.read(range)
    if (missingOf(known, range, believed(key)) === undefined) return known
    await read(key, range)
    return ended.read(range)
  }
}

/**
 * Returns the range from the first to the last unknown candle; `undefined` when there is none, or when all of it lies
 * where the upstream had nothing.
 */
function missingOf(
  texts: readonly (CandleText | undefined)[],
  range: EndedRange,
  nothings: readonly Nothing[],
): EndedRange | undefined {
  const first = texts.indexOf(undefined)
  if (first === -1) return undefined
  const fromMs = range.fromMs + first * range.widthMs
  const toMs = range.fromMs + texts.lastIndexOf(undefined) * range.widthMs
  if (nothings.some((nothing) => fromMs >= nothing.fromMs && toMs < nothing.beginMs)) return undefined
  return { ...range, fromMs, toMs }
}
