import type { Address } from '@bezel/protocol'
import { MAX_INFO_ROWS, UNMETERED, type RowMeter } from '../../access/weights.ts'
import { listLiveOrders } from '../../store/orderStore.ts'
import type { FacadeOrder } from '../facadeOrder.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { openTriggers } from '../positionTriggers.ts'
import { facadeOrders } from '../userOrders.ts'
import { userRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo, keptList } from './infoType.ts'

/** Lists a user's waiting orders for `/info`. `webData2` has the same list. */
export const waitingOrders = keptList<UserRequest, FacadeOrder>('frontendOpenOrders', ({ user }, reads, meter) =>
  listWaitingOrders(reads, user, meter),
)

/** A user's waiting orders, with the take profits and stop losses of open positions. */
export const frontendOpenOrders = defineInfo<UserRequest, readonly FacadeOrder[]>({
  parse: userRequest,
  answer: waitingOrders,
  inOtherDex: () => [],
})

/** Lists a user's waiting orders and the take profits and stop losses of open positions. */
export async function listWaitingOrders(
  reads: FacadeReads,
  trader: Address,
  meter: RowMeter = UNMETERED,
): Promise<readonly FacadeOrder[]> {
  const positions = reads.positionsOf(trader)
  const live = await listLiveOrders(reads.sql, reads.chain, trader, MAX_INFO_ROWS)
  await meter.add(live.length + positions.length)
  // Clients of the facade see a timed-out order as cancelled: the relayer reclaims its collateral.
  const waiting = live.filter(({ state }) => state?.status !== 'timed_out')
  const orders = await facadeOrders(reads, waiting)
  return [...orders, ...(await openTriggers(reads, positions))].map(({ order }) => order)
}
