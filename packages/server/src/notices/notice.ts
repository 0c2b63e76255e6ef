const DAY_MS = 86_400_000

/** Lifetime of most notices. */
export const NEWS_MS = 7 * DAY_MS

/** Lifetime of notices about money that was lost or is locked. */
export const SERIOUS_MS = 30 * DAY_MS

/** Fields of a notice that is about no order, market or position. */
export const ABOUT_NO_ORDER = { market: null, orderId: null, positionId: null } as const
