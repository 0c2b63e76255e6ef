import { performance } from 'node:perf_hooks'
import { notReady } from '../ground/unavailable.ts'

/** Thresholds above which the service is overloaded. Both must be reached, by more than a few anonymous requests. */
export interface OverloadSettings {
  /** Utilisation of the event loop over 2 s, from 0 to 1: the share of time in which the process had work to do. */
  readonly maxUtilisation: number
  /** Time in ms that a request waits before the process turns to it. */
  readonly maxWaitMs: number
}

/** Readings of the event loop since its start, in ms. */
export interface LoopTimes {
  readonly active: number
  readonly idle: number
}

interface OverloadOptions extends OverloadSettings {
  /** Default: the clock of the process, in ms. */
  readonly now?: () => number
  /** Default: the event loop of this process. */
  readonly loopTimes?: () => LoopTimes
}

/** Decides which anonymous requests are answered while there is more work than the process can do. */
export interface OverloadGuard {
  /** Counts an anonymous request. Throws `NOT_READY` with the reason `overloaded` when it is one that is shed. */
  admit(): void
  /** Number of requests that were shed. */
  shed(): number
  /** Looks at the event loop. Called every `OVERLOAD_TICK_MS`. */
  tick(): void
}

/** Interval between two looks at the event loop. */
export const OVERLOAD_TICK_MS = 250

/** Number of looks that utilisation and requests are taken over: 2 s. */
const WINDOW_TICKS = 8

/**
 * Number of anonymous requests in 2 s that are always answered. A process that is busy with its own start, or that the
 * machine gives no time, would gain nothing by refusing so few.
 */
const FEW_REQUESTS = 16

/** The smallest share of anonymous requests that is still answered, so that the guard sees when the flood is over. */
const MIN_SHARE = 1 / 64

/** Part of all anonymous requests that is added at each look without overload. */
const SHARE_STEP = 1 / 32

/** Utilisation below the threshold at which the share grows again. Between the two it stays. */
const MARGIN = 0.1

interface Look extends LoopTimes {
  /** Time in ms by which the look came late, which is how long a request would have waited. */
  readonly lateMs: number
  /** Number of anonymous requests since the look before, answered or shed. */
  readonly asked: number
}

/**
 * Creates a guard that answers a share of the anonymous requests: the share is halved at each look that finds the
 * process overloaded while more than a few of them come in, and grows by steps afterwards (additive increase,
 * multiplicative decrease). Requests with credentials are never shed, so closes and cancels get the time that is freed.
 */
export function createOverloadGuard(options: OverloadOptions): OverloadGuard {
  const { maxUtilisation, maxWaitMs } = options
  const { now = () => performance.now(), loopTimes = () => performance.eventLoopUtilization() } = options
  const looks: Look[] = []
  let lastMs = now()
  let share = 1
  let credit = 0
  let asked = 0
  let shed = 0

  function look(): Look {
    const { active, idle } = loopTimes()
    const lateMs = now() - lastMs - OVERLOAD_TICK_MS
    lastMs = now()
    const latest = { active, idle, lateMs, asked }
    asked = 0
    return latest
  }

  return {
    shed: () => shed,
    admit() {
      asked += 1
      if (share === 1) return
      credit += share
      credit -= 1
      if (credit >= 0) return
      credit += 1
      shed += 1
      throw notReady('overloaded')
    },
    tick() {
      const latest = look()
      const [first = latest] = looks
      looks.push(latest)
      if (looks.length > WINDOW_TICKS) looks.shift()
      const activeMs = latest.active - first.active
      const utilisation = activeMs / Math.max(1, activeMs + latest.idle - first.idle)
      const isWaiting = looks.some(({ lateMs }) => lateMs >= maxWaitMs)
      const askedInWindow = looks.reduce((sum, each) => sum + each.asked, 0)
      if (askedInWindow <= FEW_REQUESTS) share = 1
      else if (utilisation >= maxUtilisation && isWaiting) share = Math.max(MIN_SHARE, share / 2)
      else if (utilisation < maxUtilisation - MARGIN) share = Math.min(1, share + SHARE_STEP)
    },
  }
}
