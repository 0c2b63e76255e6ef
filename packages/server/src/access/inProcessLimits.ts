import type { LimitScope } from '../settings/config.ts'
import { LIMIT_WINDOW_MS, tighterAnswer, type LimitAnswer, type LimitBucket, type Limits } from './limits.ts'

/** Counters per scope, about 10 MB when full. More clients than that in one minute are a flood. */
const MAX_KEYS_PER_SCOPE = 100_000

/** Requests per window that all clients beyond the maximum share: those of ten clients. */
const CROWD_LIMIT = 6_000

/** Settings of the counters. */
export interface InProcessLimitsOptions {
  /** Clients with a counter of their own, per scope and window. Default 100,000. */
  readonly maxKeysPerScope?: number
  /** Requests per window of all further clients of a scope together. Default 6,000. */
  readonly crowdLimit?: number
  /** Called once per scope and window when the maximum is reached, so that an operator learns of the flood. */
  readonly onCrowded?: (scope: LimitScope) => void
}

/** Limits that answer synchronously. */
export interface InProcessLimits extends Limits {
  take(buckets: readonly LimitBucket[], nowMs: number): LimitAnswer
}

/** The counters of one scope in the current window. */
interface Counters {
  readonly byKey: Map<string, number>
  /** Requests of clients that have no counter of their own; `undefined` while there are none. */
  crowd: number | undefined
}

/**
 * Creates limits whose counters are in the memory of this process. All counters are dropped at once when a new minute
 * starts.
 *
 * Once `maxKeysPerScope` clients were seen in a window, those keep their own counters and all others share one counter
 * of `crowdLimit`. Letting the others pass uncounted would lift the limit for a sender with countless addresses, and
 * refusing them all would let that sender lock out every newcomer. Sharing one counter bounds both harms, and they end
 * with the minute.
 */
export function createInProcessLimits(options: InProcessLimitsOptions = {}): InProcessLimits {
  const { maxKeysPerScope = MAX_KEYS_PER_SCOPE, crowdLimit = CROWD_LIMIT, onCrowded } = options
  let window = 0
  let counters = emptyCounters()

  /**
   * Starts a new window when the minute has changed. A slow request may bring a time of the previous window and counts
   * in the current one; only a clock that is set back further starts over.
   */
  function enterWindow(nowMs: number): void {
    const next = Math.floor(nowMs / LIMIT_WINDOW_MS)
    if (next === window || next === window - 1) return
    window = next
    counters = emptyCounters()
  }

  function remainingOf({ scope, key, limit }: LimitBucket): number {
    const { byKey, crowd } = counters[scope]
    const used = byKey.get(key)
    if (used !== undefined) return Math.max(0, limit - used)
    if (byKey.size < maxKeysPerScope) return limit
    return Math.max(0, Math.min(limit, crowdLimit - (crowd ?? 0)))
  }

  function charge({ scope, key }: LimitBucket): void {
    const counter = counters[scope]
    const used = counter.byKey.get(key)
    if (used !== undefined || counter.byKey.size < maxKeysPerScope) counter.byKey.set(key, (used ?? 0) + 1)
    else chargeCrowd(scope, counter)
  }

  function chargeCrowd(scope: LimitScope, counter: Counters): void {
    if (counter.crowd === undefined) onCrowded?.(scope)
    counter.crowd = (counter.crowd ?? 0) + 1
  }

  function answer(buckets: readonly LimitBucket[], nowMs: number, isAllowed: boolean): LimitAnswer {
    const resetSeconds = secondsUntil((window + 1) * LIMIT_WINDOW_MS, nowMs)
    const answerOf = (bucket: LimitBucket): LimitAnswer => ({
      isAllowed,
      scope: bucket.scope,
      limit: bucket.limit,
      remaining: remainingOf(bucket),
      resetSeconds,
    })
    return buckets.map(answerOf).reduce(tighterAnswer)
  }

  return {
    take(buckets, nowMs) {
      enterWindow(nowMs)
      if (buckets.some((bucket) => remainingOf(bucket) === 0)) return answer(buckets, nowMs, false)
      for (const bucket of buckets) charge(bucket)
      return answer(buckets, nowMs, true)
    },
  }
}

/**
 * Returns the seconds to the end of the window, rounded up so that a client that waits that long is in the next one.
 * Never more than a window, even when `nowMs` lies in the previous one.
 */
function secondsUntil(endMs: number, nowMs: number): number {
  return Math.ceil(Math.min(LIMIT_WINDOW_MS, endMs - nowMs) / 1000)
}

function emptyCounters(): Record<LimitScope, Counters> {
  const empty = (): Counters => ({ byKey: new Map(), crowd: undefined })
  return { ip: empty(), agent: empty(), 'agent-writes': empty() }
}
