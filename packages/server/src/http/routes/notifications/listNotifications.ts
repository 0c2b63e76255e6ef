import { NotificationErrorSchema, NotificationListSchema, type NotificationList } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import type { Notices } from '../../../notices/startNotices.ts'
import { addressParam } from '../agents/agentRoutes.ts'
import { JSON_TYPE } from '../markets/marketsOf.ts'
import { answerNotificationError } from './answerNotificationError.ts'

export interface NotificationsContext {
  readonly notices: Pick<Notices, 'list' | 'dismiss'>
}

export interface NotificationsRoute {
  readonly Params: { readonly address: string }
}

/** GET /api/notifications/{address}: public; what the wallet has to know now, of all chains, newest first. */
export function listNotifications(app: FastifyInstance, context: NotificationsContext): void {
  const schema = {
    operationId: 'listNotifications',
    response: { 200: NotificationListSchema, 400: NotificationErrorSchema, 500: NotificationErrorSchema },
  }
  app.get<NotificationsRoute>(
    '/api/notifications/:address',
    { schema, errorHandler: answerNotificationError },
    async (request, reply) => {
      const address = addressParam(request.params.address)
      const answer: NotificationList = { success: true, address, notifications: await context.notices.list(address) }
      return reply.type(JSON_TYPE).send(JSON.stringify(answer))
    },
  )
}
