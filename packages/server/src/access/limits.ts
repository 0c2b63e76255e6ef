import type { LimitScope } from '../settings/config.ts'
import { ApiError } from '@bezel/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The largest body that is accepted. Larger ones are refused before they are read to the end. */
export const MAX_BODY_BYTES = 64 * 1024

/** Length of a fixed window. Windows start with the clock's minute. */
export const LIMIT_WINDOW_MS = 60_000

/** One counter that a request is charged to. */
export interface LimitBucket {
  readonly scope: LimitScope
  /** The client, unique in its scope. For `ip` it is a network (`ipBuckets`). */
  readonly key: string
  /** Weight per window. */
  readonly limit: number
}

/** The outcome of a charge, with the numbers of the tightest bucket for the RateLimit headers. */
export interface LimitAnswer {
  readonly isAllowed: boolean
  /** Scope of the tightest bucket, which is the exhausted one when the request is refused. */
  readonly scope: LimitScope
  readonly limit: number
  readonly remaining: number
  /** Seconds until the window ends, for `RateLimit-Reset` and `Retry-After`. At least 1. */
  readonly resetSeconds: number
}

/**
 * Counts requests in fixed windows. Counters in this process answer synchronously; counters shared by several processes
 * are on a server and answer with a promise.
 */
export interface Limits {
  /**
   * Charges a request of the given weight (default 1) to all of the buckets (at least one), or to none of them when one
   * has less than that left: a refused request uses up nothing, so a client over its write limit keeps its reads.
   */
  take(buckets: readonly LimitBucket[], nowMs: number, weight?: number): LimitAnswer | Promise<LimitAnswer>
}

/**
 * Returns the buckets that a request from a network (`networkOf`) is charged to. An IPv4 address is one client. An IPv6
 * /64 is one too, but one owner has many of them: its /56 may use up twice and its /48 four times the limit.
 */
export function ipBuckets(network: string, limit: number): readonly LimitBucket[] {
  const own: LimitBucket = { scope: 'ip', key: network, limit }
  if (!network.endsWith(NETWORK_SUFFIX)) return [own]
  const groups = network.slice(0, -NETWORK_SUFFIX.length)
  const site = groups.slice(0, groups.lastIndexOf(':'))
  const fourth = groups.slice(site.length + 1)
  return [
    own,
    { scope: 'ip', key: `${site}:${fourth.length > 2 ? fourth.slice(0, -2) : '0'}00::/56`, limit: limit * 2 },
    { scope: 'ip', key: `${site}::/48`, limit: limit * 4 },
  ]
}

/** The end of the key of an IPv6 network. */
const NETWORK_SUFFIX = '::/64'

/**
 * Returns the one of two outcomes that the headers report: a refusal, else the one with fewer remaining requests, else
 * the one with the smaller limit. A request has several because its IP is charged before its agent is known.
 */
export function tighterAnswer(a: LimitAnswer, b: LimitAnswer): LimitAnswer {
  if (a.isAllowed !== b.isAllowed) return a.isAllowed ? b : a
  if (a.remaining !== b.remaining) return a.remaining < b.remaining ? a : b
  return b.limit < a.limit ? b : a
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The outcome of the tightest bucket. It is a field, because a weak map costs every request more than all the
     * counting.
     */
    limitAnswer: LimitAnswer | undefined
  }
}

/** Stores the outcome of a charge for the headers of the answer. Throws `RATE_LIMITED` when it was refused. */
export function recordLimitAnswer(request: FastifyRequest, answer: LimitAnswer): void {
  const before = request.limitAnswer
  request.limitAnswer = before === undefined ? answer : tighterAnswer(before, answer)
  requireAllowed(answer)
}

/** Throws `RATE_LIMITED` when a charge was refused. */
export function requireAllowed(answer: LimitAnswer): void {
  if (answer.isAllowed) return
  const { limit, remaining, scope } = answer
  const left = remaining === 0 ? 'is used up' : `has ${remaining} left, and this request weighs more`
  throw new ApiError('RATE_LIMITED', `The limit of ${limit} requests a minute ${left}. Retry after the window.`, {
    scope,
  })
}

/** Returns the limit that refused a request; `undefined` when none did. */
export function refusedScopeOf(request: FastifyRequest): LimitScope | undefined {
  const answer = request.limitAnswer
  return answer === undefined || answer.isAllowed ? undefined : answer.scope
}

/** Sends the RateLimit headers of the tightest bucket on every answer. */
export function sendLimitHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  _payload: unknown,
  done: () => void,
): void {
  const answer = request.limitAnswer
  if (answer !== undefined) {
    reply.header('RateLimit-Limit', answer.limit)
    reply.header('RateLimit-Remaining', answer.remaining)
    reply.header('RateLimit-Reset', answer.resetSeconds)
    if (!answer.isAllowed) reply.header('Retry-After', answer.resetSeconds)
  }
  done()
}
