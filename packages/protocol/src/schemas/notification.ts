import { Type, type Static } from '@sinclair/typebox'
import { AddressSchema, Closed, IdSchema, MarketSymbolSchema, Nullable, TimestampSchema } from './scalars.ts'

/** What users are told of. */
export const NOTIFICATION_TYPES = [
  'order_filled',
  'order_rejected',
  'order_timed_out',
  'position_liquidated',
  'stop_loss_hit',
  'take_profit_hit',
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

/** Of its own sequence: it never changes, and is none of an order. */
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
  /** A path of this service that says more. */
  link: Nullable(Type.String()),
  createdAt: TimestampSchema,
  /** Null: shown for as long as it is so. */
  expiresAt: Nullable(TimestampSchema),
})
export type Notification = Static<typeof NotificationSchema>

/** Newest first, of all chains together. */
export const NotificationListSchema = Closed({
  success: Type.Literal(true),
  address: AddressSchema,
  notifications: Type.Array(NotificationSchema),
})
export type NotificationList = Static<typeof NotificationListSchema>

export const DismissNotificationRequestSchema = Closed({ notificationId: NotificationIdSchema })
export type DismissNotificationRequest = Static<typeof DismissNotificationRequestSchema>

export const DismissNotificationAnswerSchema = Closed({ success: Type.Literal(true) })

/** What goes wrong with notifications is told in a shape of its own. `error` is a code of the error table. */
export const NotificationErrorSchema = Closed({
  error: Type.String(),
  message: Type.String(),
  success: Type.Literal(false),
})
export type NotificationError = Static<typeof NotificationErrorSchema>
