import type { OrderId, PreparedOrder, UpdateOrderRequest } from '@bezel/protocol'
import { planUpdateOrder } from '../trading/plan/planUpdateOrder.ts'
import type { ChainOrders } from './chainOrders.ts'
import { keepChange, prepareChange, requireChangeInScope } from './changeOrder.ts'
import { runWrite, type SignedWrite } from './signedWrite.ts'
import { readOwnOrder } from './orderAtClock.ts'

/** Prepares the update of a resting order. `id` is `undefined` when the request's id is malformed. */
export async function updateOrder(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: UpdateOrderRequest,
): Promise<PreparedOrder> {
  return runWrite(orders, write, {
    plan: async () => {
      const order = await readOwnOrder(orders.store.read, write, id, orders.clock())
      const plan = planUpdateOrder(order, body, orders.trading())
      requireChangeInScope(write.agent.scope, { order, plan })
      return { order, plan }
    },
    ask: ({ plan }) => prepareChange(orders, write, plan),
    keep: (turn, planned, attempt) => keepChange(orders, write, turn, { ...planned, attempt }),
  })
}
