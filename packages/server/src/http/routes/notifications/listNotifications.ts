import { NotificationErrorSchema, NotificationListSchema, type NotificationList } from '@bezel/protocol'
import type { Notices } from '../../../notices/startNotices.ts'
import { addressParam } from '../../parameters.ts'
import { answerNotificationError } from '../../errorAnswers.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

export interface NotificationsContext {
  readonly notices: Pick<Notices, 'list' | 'dismiss'>
}

export const listNotificationsRoute = defineRoute({
  method: 'GET',
  path: '/api/notifications/:address',
  operationId: 'listNotifications',
  tag: 'Notifications',
  access: 'public',
  summary: 'Lists the current notifications of a wallet on all chains, newest first',
  description: 'The text says what to do. A notification goes when its cause does, or when it is dismissed.',
  errors: [],
  responses: { 200: NotificationListSchema, 400: NotificationErrorSchema, 500: NotificationErrorSchema },
  errorHandler: answerNotificationError,
  async handler({ notices }: NotificationsContext, { params }, reply) {
    const address = addressParam(params.address)
    const answer: NotificationList = { success: true, address, notifications: await notices.list(address) }
    return reply.type(JSON_TYPE).send(JSON.stringify(answer))
  },
})
