import { Type, type Static } from '@sinclair/typebox'
import { AddressSchema, Closed, IdSchema, MarketSymbolSchema, Nullable, OneOf, TimestampSchema } from './scalars.ts'

/** The kinds of notifications. */
export const NOTIFICATION_TYPES = [
  'order_filled',
  'order_rejected',
  'order_timed_out',
  'position_liquidated',
  'stop_loss_hit',
  'take_profit_hit',
  'position_update_refused',
  'position_update_timed_out',
  'agent_added',
  'key_issued',
  'agent_expiring',
  'agent_expired',
  'delegation_removed',
  'delegation_replaced',
  'chain_paused',
  'chain_close_only',
] as const
/** Kind of a notification. */
export type NotificationType = (typeof NOTIFICATION_TYPES)[number]

/** The urgencies of notifications. */
export const NOTIFICATION_SEVERITIES = ['info', 'warning', 'critical'] as const
/** Urgency of a notification: `critical` asks for something to be done. */
export type NotificationSeverity = (typeof NOTIFICATION_SEVERITIES)[number]

const NotificationTypeSchema = OneOf(NOTIFICATION_TYPES, {
  title: 'NotificationType',
  description: 'Kind of a notification.',
})

const NotificationSeveritySchema = OneOf(NOTIFICATION_SEVERITIES, {
  title: 'NotificationSeverity',
  description: 'Urgency of a notification: `critical` asks for something to be done.',
})

export const NotificationIdSchema = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const NotificationSchema = Closed(
  {
    id: NotificationIdSchema,
    type: NotificationTypeSchema,
    severity: NotificationSeveritySchema,
    title: Type.String(),
    message: Type.String(),
    market: Nullable(MarketSymbolSchema),
    orderId: Nullable(IdSchema),
    positionId: Nullable(IdSchema),
    link: Nullable(Type.String()),
    createdAt: TimestampSchema,
    expiresAt: Nullable(TimestampSchema),
  },
  {
    id: 'Id of the notification, from a sequence of its own. It never changes.',
    type: 'Kind of the notification.',
    severity: 'Urgency of the notification.',
    title: 'A few words for people.',
    message:
      'One or two sentences for people: what happened, and what to do. Numbers in it are rounded; the order or position that it names has them exactly.',
    market: 'Symbol of the market that it is about; null when it is about none.',
    orderId: 'Id of the order that it is about; null when it is about none.',
    positionId: 'Id of the position that it is about; null when it is about none.',
    link: 'Path of this service with more information; null when there is none.',
    createdAt: 'Time of the event in epoch milliseconds.',
    expiresAt: 'Time in epoch milliseconds until which it is shown; null while its cause lasts.',
  },
  { title: 'Notification', description: 'Something that a wallet should know without following its account.' },
)
export type Notification = Static<typeof NotificationSchema>

export const NotificationListSchema = Closed(
  { success: Type.Literal(true), address: AddressSchema, notifications: Type.Array(NotificationSchema) },
  {
    success: 'Always true in this answer.',
    address: 'Address of the wallet.',
    notifications: 'Active notifications of all chains, newest first.',
  },
  { title: 'NotificationList', description: 'The notifications of a wallet.' },
)
export type NotificationList = Static<typeof NotificationListSchema>

export const DismissNotificationRequestSchema = Closed(
  { notificationId: NotificationIdSchema },
  { notificationId: '`id` of the notification.' },
  { title: 'DismissNotificationRequest', description: 'The notification that is not to be shown again.' },
)
export type DismissNotificationRequest = Static<typeof DismissNotificationRequestSchema>

export const DismissNotificationAnswerSchema = Closed(
  { success: Type.Literal(true) },
  { success: 'Always true in this answer.' },
  { title: 'DismissNotificationAnswer', description: 'The notification is not shown any more.' },
)

export const NotificationErrorSchema = Closed(
  { error: Type.String(), message: Type.String(), success: Type.Literal(false) },
  {
    error: 'Code of the error, one of the error table.',
    message: 'The error in words, for people.',
    success: 'Always false in this answer.',
  },
  { title: 'NotificationError', description: 'The error body of the notification operations.' },
)
export type NotificationError = Static<typeof NotificationErrorSchema>
