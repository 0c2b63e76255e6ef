import type { MetricsExposure } from '../settings/config.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuseUnknownRoute } from '../access/refuseUnknownRoute.ts'
import { parseIpAddress } from '../access/ipAddress.ts'
import type { Metrics } from './createMetrics.ts'

/** Whoever forwards a request says so in one of these. */
const FORWARDED_HEADERS = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'] as const

const LOOPBACK_IPV6 = '0:0:0:0:0:0:0:1'

/** GET /metrics: for operators. To everybody else there is no such route. */
export function serveMetrics(
  app: FastifyInstance,
  { metrics, exposure }: { readonly metrics: Metrics; readonly exposure: MetricsExposure },
): void {
  if (exposure === 'off') return
  app.get('/metrics', async (request, reply) => {
    if (exposure === 'loopback' && !isLocal(request)) return refuseUnknownRoute(request)
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}

/** A proxy on this machine connects from loopback for anybody, so what was forwarded is not local. */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  if (FORWARDED_HEADERS.some((name) => headers[name] !== undefined)) return false
  const ip = parseIpAddress(socket.remoteAddress ?? '')
  return ip !== undefined && (ip === LOOPBACK_IPV6 || ip.startsWith('127.'))
}
