import type { OrderId, PreparedOrder, UpdateOrderRequest } from '@bezel/protocol'
import { heldCollateral } from '../trading/orders/countedSpend.ts'
import type { ChangePlan, TradingContext } from '../trading/plan/plan.ts'
import { planUpdateOrder } from '../trading/plan/planUpdateOrder.ts'
import { requireScope } from '../trading/scope.ts'
import { openingContext, type ChainOrders } from './chainOrders.ts'
import { keepChange, prepareChange, readGrowth } from './changeOrder.ts'
import { runWrite, type SignedWrite } from './signedWrite.ts'
import { readOwnOrder } from './orderAtClock.ts'
import { fixedMarks, prepareSized } from './prepareSized.ts'
import { checkSpendEarly } from './spendCap.ts'

/** Prepares the update of a resting order. `id` is `undefined` when the request's id is malformed. */
export async function updateOrder(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: UpdateOrderRequest,
): Promise<PreparedOrder> {
  const { agent } = write
  const { read } = orders.store
  return runWrite(orders, write, {
    plan: async () => {
      const order = await readOwnOrder(read, write, id, orders.clock())
      const { request } = order.record
      const isSized = body.size !== undefined || body.price !== undefined
      const opening = { pairIndex: request.pairIndex, slippage: order.state.slippage }
      const context = fixedMarks(isSized ? await openingContext(orders, opening) : orders.trading())
      const held = heldCollateral(order.events)
      const planAt = (at: TradingContext): ChangePlan => planUpdateOrder({ ...order, held }, body, at)
      const plan = planAt(context)
      requireScope(agent.scope, plan.action)
      await checkSpendEarly(read, agent, await readGrowth(read, { order, plan }), orders.now())
      return { order, plan, planAt, context, sizedIn: isSized ? request : null }
    },
    ask: (planned) =>
      prepareSized(orders, write, planned, (plan, alongside) => prepareChange(orders, write, plan, alongside)),
    read: (sql, clock) => readOwnOrder(sql, write, id, clock),
    keep: (turn, { order }, tried, current) => keepChange(orders, write, turn, { order, current, ...tried }),
  })
}
