import { ApiError } from '@bezel/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { tighterAnswer, type LimitAnswer, type LimitScope } from '../../cluster/limits.ts'

const answers = new WeakMap<FastifyRequest, LimitAnswer>()

/** Remembers what a charge said for the headers of the answer. Throws `RATE_LIMITED` when it was refused. */
export function recordLimitAnswer(request: FastifyRequest, answer: LimitAnswer): void {
  const before = answers.get(request)
  answers.set(request, before === undefined ? answer : tighterAnswer(before, answer))
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
  const answer = answers.get(request)
  return answer === undefined || answer.isAllowed ? undefined : answer.scope
}

/** The RateLimit headers of the tightest bucket that applied, on every answer. */
export function sendLimitHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  _payload: unknown,
  done: () => void,
): void {
  const answer = answers.get(request)
  if (answer !== undefined) {
    reply.header('RateLimit-Limit', answer.limit)
    reply.header('RateLimit-Remaining', answer.remaining)
    reply.header('RateLimit-Reset', answer.resetSeconds)
    if (!answer.isAllowed) reply.header('Retry-After', answer.resetSeconds)
  }
  done()
}
