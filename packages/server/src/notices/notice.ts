const DAY_MS = 86_400_000

/** How long most things are news. */
export const NEWS_MS = 7 * DAY_MS

/** How long what costs money, or keeps it locked, is told. */
export const SERIOUS_MS = 30 * DAY_MS

/** Notices that are about no order, market or position. */
export const ABOUT_NO_ORDER = { market: null, orderId: null, positionId: null } as const
