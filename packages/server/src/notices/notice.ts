import type { Notice, NoticeKey } from '../store/noticeStore.ts'

const DAY_MS = 86_400_000

/** One change of a trader's notices: a notice is written, or withdrawn because it no longer holds. */
export type NoticeStep = { readonly tell: Notice } | { readonly withdraw: NoticeKey }

/**
 * The greatest age of an event that still gives a notice. A service that catches up from old blocks must not flood its
 * users.
 */
export const NEWS_MAX_AGE_MS = DAY_MS

/** Lifetime of most notices. */
export const NEWS_MS = 7 * DAY_MS

/** Lifetime of notices about money that was lost or is locked. */
export const SERIOUS_MS = 30 * DAY_MS

/** Fields of a notice that is about no order, market or position. */
export const ABOUT_NO_ORDER = { market: null, orderId: null, positionId: null } as const
