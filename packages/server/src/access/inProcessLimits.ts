import type { LimitScope } from '../settings/config.ts'
import { LIMIT_WINDOW_MS, tighterAnswer, type LimitAnswer, type LimitBucket, type Limits } from './limits.ts'

/** About 10 MB per scope when full. More clients than that in one minute are a flood and not a good day. */
const MAX_KEYS_PER_SCOPE = 100_000

/** Ten clients' worth of requests: what the clients beyond the maximum have together. */
const CROWD_LIMIT = 6_000

/** Settings of the counters in this process. */
export interface InProcessLimitsOptions {
  /** Clients with a counter of their own, per scope and window. */
  readonly maxKeysPerScope?: number
  /** Requests per window of all further clients of a scope together. */
  readonly crowdLimit?: number
  /** Called once per scope and window when the maximum is reached: a flood that an operator wants to know of. */
  readonly onCrowded?: (scope: LimitScope) => void
}

/** Answers without a promise. */
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
 * Windows in the memory of this process. Nothing outlives its window: all counters are dropped at once when the minute turns.
 *
 * Once `maxKeysPerScope` clients were seen in a window, those keep their own counters and all others share one of `crowdLimit`. Letting
 * the others pass uncounted would lift the limit exactly for who comes from countless addresses, and refusing them all would let
 * that same sender shut the service to every newcomer; this way the damage of both is bounded, and ends with the minute.
 */
export function createInProcessLimits(options: InProcessLimitsOptions = {}): InProcessLimits {
  const { maxKeysPerScope = MAX_KEYS_PER_SCOPE, crowdLimit = CROWD_LIMIT, onCrowded } = options
  let window = 0
  let counters = emptyCounters()

  /** A request that took its time brings an older time along and counts in the current window; only a clock set back starts over. */
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

/** Rounded up, so that who waits that long is in the next window; never more than a window, whatever an older `nowMs` says. */
function secondsUntil(endMs: number, nowMs: number): number {
  return Math.ceil(Math.min(LIMIT_WINDOW_MS, endMs - nowMs) / 1000)
}

function emptyCounters(): Record<LimitScope, Counters> {
  const empty = (): Counters => ({ byKey: new Map(), crowd: undefined })
  return { ip: empty(), agent: empty(), 'agent-writes': empty() }
}
