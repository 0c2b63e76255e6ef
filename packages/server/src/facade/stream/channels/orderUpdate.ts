import type { LoggedEvent } from '../../../store/loggedEvent.ts'
import type { Order, OrderId } from '@bezel/protocol'
import { findOrder } from '../../../store/orderStore.ts'
import type { OrderState } from '../../../trading/orders/orderModel.ts'
import type { FacadeOrderStatus } from '../../facadeOrder.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { shortOrder } from '../../info/openOrders.ts'
import { facadeOrders } from '../../userOrders.ts'

/** What an event of the log says of an order, as it was then; nothing when the order is nobody's business. */
export async function orderOfEvent(reads: FacadeReads, event: LoggedEvent): Promise<readonly FacadeOrderStatus[]> {
  const order = JSON.parse(event.data) as Order
  const stored = await findOrder(reads.sql, order.id as OrderId)
  if (stored === undefined) return []
  return facadeOrders(reads, [{ ...stored, state: stateOf(order, event) }])
}

/** One entry of `orderUpdates`. */
export function orderUpdate({ order, status, statusTimestamp }: FacadeOrderStatus) {
  return { order: shortOrder(order), status, statusTimestamp }
}

/** Only what the facade shows of an order is in its event; of the rest it needs nothing. */
function stateOf(order: Order, { isReverted }: LoggedEvent): OrderState {
  return {
    // An order that was shown, and never came to be, is over for who saw it.
    status: isReverted && order.status === 'expired' ? 'canceled' : order.status,
    size: order.size as OrderState['size'],
    price: order.price as OrderState['price'],
    sl: order.sl as OrderState['sl'],
    tp: order.tp as OrderState['tp'],
    slippage: order.slippage as OrderState['slippage'],
    txHash: order.txHash as OrderState['txHash'],
    expiresAtMs: order.expiresAt,
    fill: order.fill,
    reason: order.reason,
    updatedAtMs: order.updatedAt,
    tradeIndex: null,
    unanswered: [],
    dueAtMs: null,
    dueBlock: null,
    countedSinceMs: order.createdAt,
  }
}
