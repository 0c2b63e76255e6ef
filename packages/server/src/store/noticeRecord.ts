import type { ChainSlug, NotificationType, Notification, Address } from '@bezel/protocol'
/** Whom a notice is to when it is to everybody. */
export const EVERYBODY = '*'

/** What a notice is about. The same thing is told once: by the same id, and not again to who dismissed it. */
export interface NoticeKey {
  readonly chain: ChainSlug
  readonly type: NotificationType
  /** What of the chain: an order, an agent until its expiry, a delegation. */
  readonly subject: string
}

/** What a notice says. */
export type NoticeContent = Pick<
  Notification,
  'severity' | 'title' | 'message' | 'market' | 'orderId' | 'positionId' | 'link'
>

/** A notice before it has an id. */
export interface Notice {
  readonly trader: Address | typeof EVERYBODY
  readonly key: NoticeKey
  readonly content: NoticeContent
  readonly createdAtMs: number
  /** `null`: until it is ended. */
  readonly expiresAtMs: number | null
}
