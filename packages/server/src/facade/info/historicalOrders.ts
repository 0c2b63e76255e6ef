import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address, OrderId } from '@bezel/protocol'
import { INFO_PAGE, MAX_INFO_ROWS, type RowMeter } from '../../access/weights.ts'
import { listOrders, type StoredOrder } from '../../store/orderStore.ts'
import type { FacadeOrderStatus } from '../facadeOrder.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { facadeOrders } from '../userOrders.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo, keptList } from './infoType.ts'

const AFTER_ALL = String(Number.MAX_SAFE_INTEGER) as OrderId

/** A user's last orders, newest first, each in its present state. */
export const historicalOrders = defineInfo<UserRequest, readonly FacadeOrderStatus[]>({
  parse: userRequest,
  answer: keptList('historicalOrders', ({ user }, reads, meter) => readHistoricalOrders(reads, user, meter)),
})

/** Reads a user's last orders. Throws `NOT_READY` until the follower has caught up with the chain. */
async function readHistoricalOrders(
  reads: FacadeReads,
  user: Address,
  meter: RowMeter,
): Promise<readonly FacadeOrderStatus[]> {
  reads.positionsOf(user)
  const orders: StoredOrder[] = []
  for (let before = AFTER_ALL; orders.length < MAX_INFO_ROWS; before = orders.at(-1)!.record.id) {
    const page = await listOrders(reads.sql, reads.chain, user, before, INFO_PAGE)
    await meter.add(page.length)
    orders.push(...page)
    if (page.length < INFO_PAGE) break
    // Whoever asks for less gets a turn between two pages.
    await nextTick()
  }
  return facadeOrders(reads, orders)
}
