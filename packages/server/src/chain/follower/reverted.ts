import type { StoredAttempt } from '../../store/attemptStore.ts'
import { orderEventsOf } from '../../store/orderEventStore.ts'
import { findOrder } from '../../store/orderStore.ts'
import type { ChainPlace } from '../../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'

/** Tells an attempt's order that its transaction failed, once. */
export async function addReverted(
  scope: BlockScope,
  { orderId, attempt }: StoredAttempt,
  place: ChainPlace,
): Promise<void> {
  const order = await findOrder(scope.sql, orderId)
  const events = await orderEventsOf(scope.sql, orderId)
  const isKnown = events.some(({ blockHash, logIndex }) => blockHash === place.blockHash && logIndex === place.logIndex)
  if (order === undefined || isKnown) return
  const event = { ...place, attemptId: attempt.id, kind: 'reverted' } as const
  await scope.addOrderEvent({ trader: order.record.trader, orderId, handle: null, event })
}
