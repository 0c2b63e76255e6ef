import type { Address, ChainSlug, Notification, NotificationType } from '@bezel/protocol'

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

const DAY_MS = 86_400_000

/** How long most things are news. */
export const NEWS_MS = 7 * DAY_MS

/** How long what costs money, or keeps it locked, is told. */
export const SERIOUS_MS = 30 * DAY_MS

/** Notices that are about no order, market or position. */
export const ABOUT_NO_ORDER = { market: null, orderId: null, positionId: null } as const
