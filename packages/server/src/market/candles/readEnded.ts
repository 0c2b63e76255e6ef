import type { CandleText } from './candleText.ts'
import { seriesKey, type EndedRange } from './endedCandles.ts'
import { NOTHING_OLDER_MS } from './limits.ts'
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

/** Candles older than any that are kept come from the upstream when they are asked for, and are kept from then on. */
export function createReadEnded({ upstream, ended, now }: CandleSources & { readonly now: () => number }): ReadEnded {
  const nothings = new Map<string, Nothing>()
  /** The last reading of each series: the next one waits for it, because it may bring what it needs. */
  const readings = new Map<string, Promise<unknown>>()

  function nothingOf(key: string): Nothing | undefined {
    const nothing = nothings.get(key)
    return nothing === undefined || now() > nothing.untilMs ? undefined : nothing
  }

  async function fill(key: string, range: EndedRange): Promise<void> {
    const missing = missingOf(await ended.read(range), range, nothingOf(key))
    if (missing === undefined) return
    const history = (await upstream.history(missing)) ?? new Map()
    const own = await ownCandles(ended, { ...missing, fromMs: missing.fromMs - missing.widthMs })
    const merged = mergeHistory({ ...missing, history, own })
    for (const [timeMs, ohlc] of merged) ended.put(missing, timeMs, ohlc)
    const { fromMs, toMs, widthMs } = missing
    const [beginMs = toMs + widthMs] = merged.keys()
    if (beginMs > fromMs) nothings.set(key, { fromMs, beginMs, untilMs: now() + NOTHING_OLDER_MS })
  }

  return async (range) => {
    const key = seriesKey(range)
    const known = await ended.read(range)
    if (missingOf(known, range, nothingOf(key)) === undefined) return known
    const reading = (readings.get(key) ?? Promise.resolve()).then(() => fill(key, range))
    const settled = reading.catch(() => undefined)
    readings.set(key, settled)
    void settled.then(() => readings.get(key) === settled && readings.delete(key))
    await reading
    return ended.read(range)
  }
}

/** The stretch from the first to the last candle that is not known, unless all of it is where the upstream had nothing. */
function missingOf(
  texts: readonly (CandleText | undefined)[],
  range: EndedRange,
  nothing: Nothing | undefined,
): EndedRange | undefined {
  const first = texts.indexOf(undefined)
  if (first === -1) return undefined
  const fromMs = range.fromMs + first * range.widthMs
  const toMs = range.fromMs + texts.lastIndexOf(undefined) * range.widthMs
  if (nothing !== undefined && fromMs >= nothing.fromMs && toMs < nothing.beginMs) return undefined
  return { ...range, fromMs, toMs }
}
