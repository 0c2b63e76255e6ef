import type { FastifyRequest } from 'fastify'
import { clientIp } from '../../access/clientIp.ts'
import { networkOf, type IpAddress } from '../../access/ipAddress.ts'
import type { LimitAnswer, Limits } from '../../access/limits.ts'
import { recordLimitAnswer } from '../../access/limitAnswers.ts'

/** Where a request came from, behind the configured number of proxies. */
export function ipOf(request: FastifyRequest, trustedProxies: number): IpAddress {
  return clientIp({
    socketAddress: request.socket.remoteAddress,
    forwardedFor: request.headers['x-forwarded-for'],
    trustedProxies,
  })
}

function settle(request: FastifyRequest, answer: LimitAnswer, done: (error?: Error) => void): void {
  try {
    recordLimitAnswer(request, answer)
  } catch (error) {
    return done(error as Error)
  }
  done()
}

/** The first thing every request pays, before anything is read or computed for it. */
export function chargeIp(of: { limits: Limits; limit: number; trustedProxies: number; now: () => number }) {
  return (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void => {
    const key = networkOf(ipOf(request, of.trustedProxies))
    const answer = of.limits.take([{ scope: 'ip', key, limit: of.limit }], of.now())
    // In one process the answer is there at once, and to wait for a promise would cost every request something.
    if (answer instanceof Promise) answer.then((later) => settle(request, later, done), done)
    else settle(request, answer, done)
  }
}
