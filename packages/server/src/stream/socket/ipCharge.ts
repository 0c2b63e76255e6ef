import type { IncomingMessage } from 'node:http'
import { clientIp } from '../../access/clientIp.ts'
import { networkOf } from '../../access/ipAddress.ts'
import type { LimitAnswer, Limits } from '../../access/limits.ts'

/** The bucket of requests of an IP, which upgrades and `auth` messages are charged to as well. */
export interface IpCharge {
  /** Whom a request is charged to. */
  networkOf(request: IncomingMessage): string
  take(network: string): LimitAnswer | Promise<LimitAnswer>
}

export interface IpChargeOptions {
  readonly limits: Limits
  /** Requests a minute. */
  readonly ipLimit: number
  readonly trustedProxies: number
  readonly now: () => number
}

export function createIpCharge({ limits, ipLimit, trustedProxies, now }: IpChargeOptions): IpCharge {
  return {
    networkOf: ({ socket, headers }) =>
      networkOf(
        clientIp({
          socketAddress: socket.remoteAddress,
          forwardedFor: headers['x-forwarded-for'],
          trustedProxies,
        }),
      ),
    take: (network) => limits.take([{ scope: 'ip', key: network, limit: ipLimit }], now()),
  }
}
