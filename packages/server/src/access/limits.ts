import type { LimitScope } from '../settings/config.ts'

/** Length of the fixed windows, which start with the clock's minute. */
export const LIMIT_WINDOW_MS = 60_000

/** One counter that a request is charged to. */
export interface LimitBucket {
  readonly scope: LimitScope
  /** Who: unique in its scope. For `ip` the network (`networkOf`), so that one IPv6 customer is one bucket. */
  readonly key: string
  /** Requests per window. */
  readonly limit: number
}

/** The answer, with the numbers of the tightest bucket that applied: the RateLimit headers. */
export interface LimitAnswer {
  readonly isAllowed: boolean
  /** The bucket that is exceeded when the request is not allowed. */
  readonly scope: LimitScope
  readonly limit: number
  readonly remaining: number
  /** Until the window ends: `RateLimit-Reset` and `Retry-After`. At least 1. */
  readonly resetSeconds: number
}

/**
 * Counts requests in fixed windows. In one process it answers at once; shared by several it asks a server, hence the promise.
 */
export interface Limits {
  /**
   * Charges one request to all of the buckets (at least one), or to none of them when one has nothing left: a refused request uses up
   * nothing, so a client over its write limit keeps its reads.
   */
  take(buckets: readonly LimitBucket[], nowMs: number): LimitAnswer | Promise<LimitAnswer>
}

/**
 * Of two answers to one request (its IP is charged before its agent is known) the one its headers tell: a refusal, else the one with
 * the fewest remaining, else the smaller limit.
 */
export function tighterAnswer(a: LimitAnswer, b: LimitAnswer): LimitAnswer {
  if (a.isAllowed !== b.isAllowed) return a.isAllowed ? b : a
  if (a.remaining !== b.remaining) return a.remaining < b.remaining ? a : b
  return b.limit < a.limit ? b : a
}
