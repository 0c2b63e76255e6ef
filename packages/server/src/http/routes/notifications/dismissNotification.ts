import {
  ApiError,
  DismissNotificationAnswerSchema,
  DismissNotificationRequestSchema,
  NotificationErrorSchema,
  type DismissNotificationRequest,
} from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { callerOf } from '../../../access/caller.ts'
import { requireOwnerOnAnyChain, type OwnerContext } from '../../hooks/ownerOnAnyChain.ts'
import { addressParam } from '../agents/agentRoutes.ts'
import { answerNotificationError } from './answerNotificationError.ts'
import type { NotificationsContext, NotificationsRoute } from './listNotifications.ts'

/** POST /api/notifications/{address}/dismiss: the trader, or an agent of it, has read one. A stranger must not hide a warning. */
export function dismissNotification(app: FastifyInstance, context: NotificationsContext & OwnerContext): void {
  const schema = {
    operationId: 'dismissNotification',
    body: DismissNotificationRequestSchema,
    response: {
      200: DismissNotificationAnswerSchema,
      400: NotificationErrorSchema,
      401: NotificationErrorSchema,
      500: NotificationErrorSchema,
    },
  }
  const requireOwner = requireOwnerOnAnyChain(context, 'dismissNotification', (request) =>
    addressParam((request.params as NotificationsRoute['Params']).address),
  )
  app.post<NotificationsRoute & { Body: DismissNotificationRequest }>(
    '/api/notifications/:address/dismiss',
    { schema, errorHandler: answerNotificationError, preValidation: requireOwner },
    async (request) => {
      const { notificationId } = request.body
      if (await context.notices.dismiss(callerOf(request).trader, notificationId)) return { success: true }
      throw new ApiError('VALIDATION_ERROR', 'This wallet has no notification with this id.')
    },
  )
}
