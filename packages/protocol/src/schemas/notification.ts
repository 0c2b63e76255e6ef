import { Type, type Static } from '@sinclair/typebox'
import { AddressSchema, Closed, IdSchema, MarketSymbolSchema, Nullable, TimestampSchema } from './scalars.ts'

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
export type NotificationType = (typeof NOTIFICATION_TYPES)[number]

export const NOTIFICATION_SEVERITIES = ['info', 'warning', 'critical'] as const
export type NotificationSeverity = (typeof NOTIFICATION_SEVERITIES)[number]

/** Id of a notification, from a sequence of its own. It never changes, and is unrelated to ids of orders. */
export const NotificationIdSchema = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const NotificationSchema = Closed({
  id: NotificationIdSchema,
  type: Type.Union(NOTIFICATION_TYPES.map((type) => Type.Literal(type))),
  severity: Type.Union(NOTIFICATION_SEVERITIES.map((severity) => Type.Literal(severity))),
  title: Type.String(),
  message: Type.String(),
  market: Nullable(MarketSymbolSchema),
  orderId: Nullable(IdSchema),
  positionId: Nullable(IdSchema),
  /** Path of this service with more information. */
  link: Nullable(Type.String()),
  createdAt: TimestampSchema,
  /** Time until which it is shown; null while its cause lasts. */
  expiresAt: Nullable(TimestampSchema),
})
export type Notification = Static<typeof NotificationSchema>

/** The notifications of all chains, newest first. */
export const NotificationListSchema = Closed({
  success: Type.Literal(true),
  address: AddressSchema,
  notifications: Type.Array(NotificationSchema),
})
export type NotificationList = Static<typeof NotificationListSchema>

export const DismissNotificationRequestSchema = Closed({ notificationId: NotificationIdSchema })
export type DismissNotificationRequest = Static<typeof DismissNotificationRequestSchema>

export const DismissNotificationAnswerSchema = Closed({ success: Type.Literal(true) })

/**
 * The error body of the notification operations, which have a shape of their own. `error` is a code of the error table.
 */
export const NotificationErrorSchema = Closed({
  error: Type.String(),
  message: Type.String(),
  success: Type.Literal(false),
})
export type NotificationError = Static<typeof NotificationErrorSchema>
