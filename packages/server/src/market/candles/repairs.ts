import { FeedUnavailableError } from '../feed/pages.ts'
import { backoffMs } from '../../ground/backoff.ts'
import type { Every } from '../../ground/every.ts'
import { ASKED_MS, MAX_REQUESTS, REPAIR_PAUSE_MS, MAX_REPAIRS_PER_MINUTE } from './limits.ts'
import { repairSeries, type CandleSources } from './repairSeries.ts'
import { isReadable, type Series } from './series.ts'

/** Limits how often the upstream is asked for one series, however often ticks of it are missed. */
interface RepairBudget {
  isLeft(series: Series): boolean
  take(series: Series): void
  /** Returns the time of the last request; 0 when there was none. */
  lastMs(series: Series): number
}

const MINUTE_MS = 60_000

/** Reads what was not observed from the upstream: at once for series that are requested, slowly for all others. */
export interface Repairs {
  /**
   * Resolves when the series is as complete as possible now, also when the upstream does not answer, which then gets a
   * pause. Returns `undefined` when there is nothing to wait for.
   */
  repair(series: Series): Promise<void> | undefined
  close(): void
}

export interface RepairsOptions extends CandleSources {
  readonly all: () => Iterable<Series>
  /** Called when ended candles, or the running one, may have changed. */
  readonly onRepaired: (series: Series) => void
  readonly now: () => number
  readonly random: () => number
  readonly every: Every
  /** Receives errors that are not caused by the upstream. */
  readonly onError: (error: unknown) => void
}

/** The number of reads per repair. A candle may end while it is read, and is then read once more. */
const MAX_TRIES = 2

export function startRepairs(options: RepairsOptions): Repairs {
  const { now, random } = options
  const underWay = new Map<Series, Promise<void>>()
  const askedAtMs = new WeakMap<Series, number>()
  const budget = createRepairBudget(now)
  let failures = 0
  let retryAtMs = 0
  const rounds = options.every(REPAIR_PAUSE_MS, round, options)

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
      retryAtMs = now() + backoffMs(failures++, random())
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

  /**
   * Starts the next repairs: a few series that were requested lately, or else one of the others. The series that was
   * read the longest ago comes first, so none waits behind one that keeps missing ticks.
   */
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
    close: () => void rounds.close(),
  }
}

function createRepairBudget(now: () => number): RepairBudget {
  /** Times of the last requests of each series, oldest first. */
  const takenAtMs = new WeakMap<Series, number[]>()

  return {
    isLeft(series) {
      const taken = takenAtMs.get(series)
      if (taken === undefined || taken.length < MAX_REPAIRS_PER_MINUTE) return true
      // The absolute difference, so that a clock set back by a minute or more does not block the series.
      return Math.abs(now() - taken[0]!) >= MINUTE_MS
    },
    take(series) {
      const taken = takenAtMs.get(series) ?? []
      taken.push(now())
      takenAtMs.set(series, taken.slice(-MAX_REPAIRS_PER_MINUTE))
    },
    lastMs: (series) => takenAtMs.get(series)?.at(-1) ?? 0,
  }
}
