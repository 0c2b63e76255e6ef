import type { LimitScope } from '../settings/config.ts'
import { ApiError } from '@bezel/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { tighterAnswer, type LimitAnswer } from './limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the tightest bucket that applied; a field, because a weak map costs every request more than all the counting. */
    limitAnswer: LimitAnswer | undefined
  }
}

/** Remembers what a charge said for the headers of the answer. Throws `RATE_LIMITED` when it was refused. */
export function recordLimitAnswer(request: FastifyRequest, answer: LimitAnswer): void {
  const before = request.limitAnswer
  request.limitAnswer = before === undefined ? answer : tighterAnswer(before, answer)
  requireAllowed(answer)
}

/** Throws `RATE_LIMITED` when a charge was refused. */
export function requireAllowed(answer: LimitAnswer): void {
  if (answer.isAllowed) return
  throw new ApiError(
    'RATE_LIMITED',
    `The limit of ${answer.limit} requests a minute is used up. Retry after the window.`,
    {
      scope: answer.scope,
    },
  )
}

/** The limit that refused a request; `undefined` when none did. */
export function refusedScopeOf(request: FastifyRequest): LimitScope | undefined {
  const answer = request.limitAnswer
  return answer === undefined || answer.isAllowed ? undefined : answer.scope
}

/** The RateLimit headers of the tightest bucket that applied, on every answer. */
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
