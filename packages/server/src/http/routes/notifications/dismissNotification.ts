import {
  ApiError,
  DismissNotificationAnswerSchema,
  DismissNotificationRequestSchema,
  NotificationErrorSchema,
} from '@bezel/protocol'
import { callerOf } from '../../../access/caller.ts'
import { answerNotificationError } from '../../errorAnswers.ts'
import type { NotificationsContext } from './listNotifications.ts'
import { defineRoute } from '../../route.ts'

export const dismissNotificationRoute = defineRoute({
  method: 'POST',
  path: '/api/notifications/:address/dismiss',
  operationId: 'dismissNotification',
  tag: 'Notifications',
  // Only the owner may dismiss: a stranger must not be able to hide a warning.
  access: 'owner',
  summary: 'Dismisses a notification, so that it is not shown again',
  description: 'An agent signs for any chain on which it is registered for this wallet.',
  errors: [],
  body: DismissNotificationRequestSchema,
  responses: {
    200: DismissNotificationAnswerSchema,
    400: NotificationErrorSchema,
    401: NotificationErrorSchema,
    500: NotificationErrorSchema,
  },
  errorHandler: answerNotificationError,
  async handler({ notices }: NotificationsContext, request) {
    const { notificationId } = request.body
    if (await notices.dismiss(callerOf(request).trader, notificationId)) return { success: true }
    throw new ApiError('VALIDATION_ERROR', 'This wallet has no notification with this id.')
  },
})
