import type { FastifyInstance } from 'fastify'
import type { Limits } from '../../access/limits.ts'
import { registerBodyParser } from '../rawBody.ts'
import { chargeIp } from './chargeIp.ts'
import { sendLimitHeaders } from '../../access/limitAnswers.ts'

/** What every request passes, in this order; private operations add their own after it. */
export function registerHooks(
  app: FastifyInstance,
  of: { readonly limits: Limits; readonly limit: number; readonly trustedProxies: number; readonly now: () => number },
): void {
  app.decorateRequest('limitAnswer', undefined)
  app.addHook('onRequest', chargeIp(of))
  registerBodyParser(app)
  app.addHook('onSend', sendLimitHeaders)
}
