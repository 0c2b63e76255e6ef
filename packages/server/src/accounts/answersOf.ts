import type { Order } from '@bezel/protocol'
import type { StoredOrder } from '../store/orderStore.ts'
import { orderAnswer } from '../trading/orders/orderModel.ts'

/**
 * Returns stored orders as the interface shows them, without orders that have no state now (a reorganisation undid
 * them).
 */
export function answersOf(orders: readonly StoredOrder[]): Order[] {
  return orders.flatMap(({ record, state }) => (state === undefined ? [] : [orderAnswer(record, state)]))
}
