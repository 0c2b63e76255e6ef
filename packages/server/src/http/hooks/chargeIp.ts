import type { FastifyRequest } from 'fastify'
import { clientIp } from '../../cluster/clientIp.ts'
import { networkOf, type IpAddress } from '../../cluster/ipAddress.ts'
import type { Limits } from '../../cluster/limits.ts'
import { recordLimitAnswer } from './limitAnswers.ts'

/** Where a request came from, behind the configured number of proxies. */
export function ipOf(request: FastifyRequest, trustedProxies: number): IpAddress {
  return clientIp({
    socketAddress: request.socket.remoteAddress,
    forwardedFor: request.headers['x-forwarded-for'],
    trustedProxies,
  })
}

/** The first thing every request pays, before anything is read or computed for it. */
export function chargeIp(of: { limits: Limits; limit: number; trustedProxies: number; now: () => number }) {
  return async (request: FastifyRequest): Promise<void> => {
    const key = networkOf(ipOf(request, of.trustedProxies))
    recordLimitAnswer(request, await of.limits.take([{ scope: 'ip', key, limit: of.limit }], of.now()))
  }
}
