import { FeedUnavailableError } from '../feed/pages.ts'
import type { CandleText } from './candleText.ts'
import { seriesKey, type EndedRange } from './endedCandles.ts'
import { MAX_NOTHINGS, MAX_READINGS, NOTHING_OLDER_MS } from './limits.ts'
import { mergeHistory } from './mergeHistory.ts'
import { ownCandles, type CandleSources } from './repairSeries.ts'

/** Reads ended candles; `undefined` where there are none. Throws `FeedUnavailableError`. */
export type ReadEnded = (range: EndedRange) => Promise<readonly (CandleText | undefined)[]>

/** Where the upstream had no candles: those that begin in `[fromMs, beginMs)`. Older ones it may have, when it leaves out those without ticks. */
interface Nothing {
  readonly fromMs: number
  readonly beginMs: number
  /** For how long that is believed. */
  readonly untilMs: number
}

/** A range that is being read from the upstream, or waits for others that may bring a part of it. */
interface Reading extends EndedRange {
  readonly done: Promise<void>
}

/** Candles older than any that are kept come from the upstream when they are asked for, and are kept from then on. */
export function createReadEnded({ upstream, ended, now }: CandleSources & { readonly now: () => number }): ReadEnded {
  /** By series, the latest last. */
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

  /** Waits for those alone that read a part of the same range, and joins one that reads all of it. */
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

/** The stretch from the first to the last candle that is not known, unless all of it is where the upstream had nothing. */
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
