import type { StoredAttempt } from '../store/attemptStore.ts'
import { findOrderIdAt } from '../store/orderEventStore.ts'
import { findOrder } from '../store/orderStore.ts'
import type { ChainPlace } from '../trading/orders/orderModel.ts'
import type { BlockScope } from './blockScope.ts'

/** Tells an attempt's order that its transaction failed, once. `false`: the transaction is known to be of another order. */
export async function addReverted(
  scope: BlockScope,
  { orderId, attempt }: StoredAttempt,
  place: ChainPlace,
): Promise<boolean> {
  const known = await findOrderIdAt(scope.sql, scope.chain, place)
  if (known !== undefined) return known === orderId
  const order = await findOrder(scope.sql, orderId)
  if (order === undefined) return false
  const event = { ...place, attemptId: attempt.id, kind: 'reverted' } as const
  await scope.addOrderEvent({ trader: order.record.trader, orderId, handle: null, event })
  return true
}
