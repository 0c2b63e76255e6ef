import type { OrderId, PreparedOrder, UpdateOrderRequest } from '@bezel/protocol'
import { planUpdateOrder } from '../trading/plan/planUpdateOrder.ts'
import type { ChainOrders } from './chainOrders.ts'
import { changeOrder, requireChangeInScope } from './changeOrder.ts'
import { beforeNode } from './delegation.ts'
import { ownOrder } from './orderAtClock.ts'
import type { SignedWrite } from './signedWrite.ts'

/** Prepares the update of a resting order. `undefined` is an id that can be none. */
export async function updateOrder(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: UpdateOrderRequest,
): Promise<PreparedOrder> {
  const planned = await beforeNode(orders, write, async () => {
    const order = await ownOrder(orders.store.read, write, id, orders.clock())
    const plan = planUpdateOrder(order, body, orders.trading())
    requireChangeInScope(write.agent.scope, { order, plan })
    return { order, plan }
  })
  return changeOrder(orders, write, planned)
}
