import { FeedUnavailableError } from '../feed/pages.ts'
import { reconnectDelayMs } from '../../ground/reconnectDelay.ts'
import type { Every } from './every.ts'
import { ASKED_MS, MAX_REQUESTS, REPAIR_PAUSE_MS } from './limits.ts'
import { createRepairBudget } from './repairBudget.ts'
import { repairSeries, type CandleSources } from './repairSeries.ts'
import { isReadable, type Series } from './series.ts'

/** Keeps reading from the upstream what was not observed: at once for those who ask, slowly for everything else. */
export interface Repairs {
  /**
   * Done when the series is as good as it gets now; also when the upstream does not answer, which is then left alone for a while. `undefined`
   * when there is nothing to wait for.
   */
  repair(series: Series): Promise<void> | undefined
  close(): void
}

export interface RepairsOptions extends CandleSources {
  readonly all: () => Iterable<Series>
  /** Called when ended candles may be others than before, and the running one. */
  readonly onRepaired: (series: Series) => void
  readonly now: () => number
  readonly random: () => number
  readonly every: Every
  /** What is no fault of the upstream. */
  readonly onError: (error: unknown) => void
}

/** A candle may end while it is asked for, and is then asked for once more. */
const MAX_TRIES = 2

export function startRepairs(options: RepairsOptions): Repairs {
  const { now, random } = options
  const underWay = new Map<Series, Promise<void>>()
  const askedAtMs = new WeakMap<Series, number>()
  const budget = createRepairBudget(now)
  let failures = 0
  let retryAtMs = 0
  const stop = options.every(REPAIR_PAUSE_MS, round)

  function isDue(series: Series): boolean {
    return isReadable(series) && budget.isLeft(series)
  }

  async function attempt(series: Series): Promise<void> {
    try {
      for (let tries = 0; tries < MAX_TRIES && isDue(series); tries += 1) {
        budget.take(series)
        if (await repairSeries(series, options)) options.onRepaired(series)
      }
      failures = 0
    } catch (error) {
      if (!(error instanceof FeedUnavailableError)) throw error
      retryAtMs = now() + reconnectDelayMs(failures++, random())
    }
  }

  function begin(series: Series): Promise<void> | undefined {
    const known = underWay.get(series)
    if (known !== undefined) return known
    if (!isDue(series) || now() < retryAtMs) return undefined
    const work = attempt(series).finally(() => underWay.delete(series))
    underWay.set(series, work)
    return work
  }

  /** Those that were asked for lately, a few at once; else one of the others. None waits for one that keeps missing something. */
  function round(): void {
    if (now() < retryAtMs || underWay.size >= MAX_REQUESTS) return
    const next: Series[] = []
    let other: Series | undefined
    for (const series of options.all()) {
      if (!isDue(series) || underWay.has(series)) continue
      const isAsked = now() - (askedAtMs.get(series) ?? 0) < ASKED_MS
      if (isAsked) next.push(series)
      else if (other === undefined || byLast(series, other) < 0) other = series
    }
    if (next.length === 0 && other !== undefined) next.push(other)
    for (const series of next.toSorted(byLast).slice(0, MAX_REQUESTS)) begin(series)?.catch(options.onError)
  }

  function byLast(a: Series, b: Series): number {
    return budget.lastMs(a) - budget.lastMs(b)
  }

  return {
    repair(series) {
      askedAtMs.set(series, now())
      return begin(series)
    },
    close: stop,
  }
}
