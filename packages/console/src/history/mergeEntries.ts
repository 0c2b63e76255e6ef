import type { FillHistoryEntry, Order } from '@bezel/sdk'

/** Entries that the live part of a history has at most. Fewer are all that there are. */
export const LIVE_ENTRIES = 50

/**
 * Puts the newest entries of a history before the older ones that were read before, newest first. Entries that the
 * newest ones should contain and do not were taken back by a reorganisation, and go. Returns null when there is a gap
 * between the two, so that everything has to be read again.
 */
export function mergeEntries(
  newest: readonly FillHistoryEntry[],
  before: readonly FillHistoryEntry[],
): FillHistoryEntry[] | null {
  const oldest = newest.at(-1)
  if (oldest === undefined || newest.length < LIVE_ENTRIES) return [...newest]
  const older = before.filter(({ id }) => id < oldest.id)
  const isJoined = older.length < before.length
  return isJoined ? [...newest, ...older] : null
}

/**
 * Puts the newest states of orders into the pages of a history, newest first. Orders below the last page are left out
 * until their page is read.
 */
export function mergeOrders(pages: readonly Order[], live: readonly Order[], isComplete: boolean): Order[] {
  const oldestId = Number(pages.at(-1)?.id ?? 0)
  const orders = new Map(pages.map((order) => [order.id, order]))
  for (const order of live) {
    const known = orders.get(order.id)
    const isInReach = isComplete || Number(order.id) >= oldestId
    if (known === undefined ? isInReach : known.updatedAt <= order.updatedAt) orders.set(order.id, order)
  }
  return [...orders.values()].toSorted((a, b) => b.createdAt - a.createdAt || Number(b.id) - Number(a.id))
}
