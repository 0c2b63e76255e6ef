import { FeedUnavailableError } from '../feed/pages.ts'
import { backoffMs } from '../../ground/backoff.ts'
import type { Every } from '../../ground/every.ts'
import { createLeakyBucket } from '../../ground/leakyBucket.ts'
import { ASKED_MS, MAX_REPAIRS_PER_MINUTE, MAX_WAITING_REPAIRS, REPAIR_ROUND_MS } from './limits.ts'
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

/** The pause that a pair gets after the upstream did not answer for it. */
interface Refusal {
  readonly failures: number
  readonly retryAtMs: number
}

/**
 * Reads what was not observed from the upstream, one request at a time: first for series that are requested, then for
 * all others.
 */
export interface Repairs {
  /**
   * Resolves when the series is as complete as possible now, also when the upstream does not answer, whose pair then
   * gets a pause. Returns `undefined` when there is nothing to wait for, or when too many wait already: then the series
   * is repaired in the background, before those that nobody requested.
   */
  repair(series: Series): Promise<void> | undefined
  close(): void
}

export interface RepairsOptions extends CandleSources {
  readonly all: () => Iterable<Series>
  /** Pause between the begins of two requests, whoever asked for them; 0 for none. */
  readonly pauseMs: number
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
  const turns = createLeakyBucket({ pauseMs: options.pauseMs, size: MAX_WAITING_REPAIRS })
  /** Refusals by pair: the history of one pair may be broken while all others answer. */
  const refusals = new Map<number, Refusal>()
  const rounds = options.every(REPAIR_ROUND_MS, round, options)

  function isDue(series: Series): boolean {
    const { retryAtMs = 0 } = refusals.get(series.pairIndex) ?? {}
    return isReadable(series) && budget.isLeft(series) && now() >= retryAtMs
  }

  /** Reads a series once its turn has come, and once more if a further turn is free. */
  async function attempt(series: Series, turn: Promise<void>): Promise<void> {
    const { pairIndex } = series
    try {
      let next: Promise<void> | undefined = turn
      for (let tries = 0; tries < MAX_TRIES && next !== undefined; tries += 1) {
        await next
        if (!isDue(series)) return
        budget.take(series)
        if (await repairSeries(series, options)) options.onRepaired(series)
        refusals.delete(pairIndex)
        next = isDue(series) && turns.isFree() ? turns.take() : undefined
      }
    } catch (error) {
      if (!(error instanceof FeedUnavailableError)) throw error
      const { failures = 0 } = refusals.get(pairIndex) ?? {}
      refusals.set(pairIndex, { failures: failures + 1, retryAtMs: now() + backoffMs(failures, random()) })
    }
  }

  function begin(series: Series): Promise<void> | undefined {
    const known = underWay.get(series)
    if (known !== undefined) return known
    const turn = isDue(series) ? turns.take() : undefined
    if (turn === undefined) return undefined
    const work = attempt(series, turn).finally(() => underWay.delete(series))
    underWay.set(series, work)
    return work
  }

  /**
   * Starts the next repair: of a series that was requested lately, or else of one of the others. The series that was
   * read the longest ago comes first, so none waits behind one that keeps missing ticks.
   */
  function round(): void {
    if (!turns.isFree()) return
    let next: Series | undefined
    for (const series of options.all()) {
      if (!isDue(series) || underWay.has(series)) continue
      if (next === undefined || isBefore(series, next)) next = series
    }
    if (next !== undefined) begin(next)?.catch(options.onError)
  }

  function isAsked(series: Series): boolean {
    return now() - (askedAtMs.get(series) ?? 0) < ASKED_MS
  }

  function isBefore(a: Series, b: Series): boolean {
    if (isAsked(a) !== isAsked(b)) return isAsked(a)
    return budget.lastMs(a) < budget.lastMs(b)
  }

  return {
    repair(series) {
      askedAtMs.set(series, now())
      return begin(series)
    },
    close() {
      void rounds.close()
      turns.close()
    },
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
