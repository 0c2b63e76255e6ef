import { median } from '../../bench/measure/median.ts'

/** Durations, each with the time of its arrival. */
export interface Latencies {
  add(atMs: number, ms: number): void
  /** Returns the number of durations in a period. */
  count(period: Period): number
  /**
   * Returns the median of the 99th percentiles of short windows: a stall of the machine affects one window, a slow
   * service affects all of them.
   */
  p99(periods: readonly Period[]): number
}

export interface Period {
  readonly fromMs: number
  readonly toMs: number
}

const WINDOW_MS = 2_500

export function createLatencies(): Latencies {
  const samples: { readonly atMs: number; readonly ms: number }[] = []

  function within({ fromMs, toMs }: Period): number[] {
    return samples.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ ms }) => ms)
  }

  return {
    add: (atMs, ms) => void samples.push({ atMs, ms }),
    count: (period) => within(period).length,
    p99: (periods) => median(periods.flatMap(windowsOf).map((window) => percentile99(within(window)))),
  }
}

/** Splits a period into as many whole windows as fit. */
function windowsOf({ fromMs, toMs }: Period): Period[] {
  const windows = Math.max(1, Math.floor((toMs - fromMs) / WINDOW_MS))
  return Array.from({ length: windows }, (_, at) => ({
    fromMs: fromMs + at * WINDOW_MS,
    toMs: fromMs + (at + 1) * WINDOW_MS,
  }))
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY
}
