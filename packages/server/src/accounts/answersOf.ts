import type { Order } from '@bezel/protocol'
import type { StoredOrder } from '../store/orderStore.ts'
import { orderAnswer } from '../trading/orders/orderAnswer.ts'

/** Stored orders as the interface shows them, without those that do not exist now. */
export function answersOf(orders: readonly StoredOrder[]): Order[] {
  return orders.flatMap(({ record, state }) => (state === undefined ? [] : [orderAnswer(record, state)]))
}
