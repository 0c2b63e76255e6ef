import { MAX_REPAIRS_PER_MINUTE } from './limits.ts'
import type { Series } from './series.ts'

/** How often the upstream is asked for one series, however often something of it is missed. */
export interface RepairBudget {
  isLeft(series: Series): boolean
  take(series: Series): void
  /** When it was asked last; 0 when it never was. */
  lastMs(series: Series): number
}

const MINUTE_MS = 60_000

export function createRepairBudget(now: () => number): RepairBudget {
  /** The last ones of each series, oldest first. */
  const takenAtMs = new WeakMap<Series, number[]>()

  return {
    isLeft(series) {
      const taken = takenAtMs.get(series)
      if (taken === undefined || taken.length < MAX_REPAIRS_PER_MINUTE) return true
      // A clock that was put back by more does not block it.
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
