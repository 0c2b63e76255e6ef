import type { Order } from '@bezel/sdk'
import { isOpenOrder } from '../data/accountState.ts'

/** Time for which an order that has ended stays in the list of open ones, so that its end is seen. */
const LINGER_MS = 10 * 60_000

const MAX_ENDED = 5

/**
 * Returns the orders of a list: the open ones, newest first, then the last few that ended a moment ago. `recent` are
 * orders of any state; the newest state of an order counts.
 */
export function listedOrders(
  open: readonly Order[],
  recent: readonly Order[],
  of: { readonly market: string | undefined; readonly nowMs: number },
): Order[] {
  const isMeant = ({ market }: Order): boolean => of.market === undefined || market === of.market
  const known = new Set(open.map(({ id }) => id))
  const ended = recent
    .filter((order) => !isOpenOrder(order) && !known.has(order.id) && of.nowMs - order.updatedAt < LINGER_MS)
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
  return [...open.filter(isMeant), ...ended.filter(isMeant).slice(0, MAX_ENDED)]
}

/** Returns what can be done to an order: a resting one is cancelled or changed, a timed-out one reclaimed. */
export function endingOf({
  status,
  txHash,
}: Pick<Order, 'status' | 'txHash'>): 'cancel' | 'reclaim' | 'withdraw' | null {
  if (status === 'open') return 'cancel'
  if (status === 'timed_out') return 'reclaim'
  // What was sent can't be withdrawn any more.
  return status === 'prepared' && txHash === null ? 'withdraw' : null
}
