import { listLiveOrders } from '../../store/orderStore.ts'
import type { FacadeOrder } from '../facadeOrder.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { openTriggers } from '../positionTriggers.ts'
import { facadeOrders } from '../userOrders.ts'
import { userOf, type InfoRequest } from './infoRequest.ts'

/** Everything of a trader's that waits: orders, and the take profits and stop losses of its positions. */
export async function frontendOpenOrders(request: InfoRequest, reads: FacadeReads): Promise<readonly FacadeOrder[]> {
  const trader = userOf(request)
  const positions = reads.positionsOf(trader)
  const orders = await facadeOrders(reads, await listLiveOrders(reads.sql, reads.chain, trader))
  return [...orders, ...(await openTriggers(reads, positions))].map(({ order }) => order)
}
