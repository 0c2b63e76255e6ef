import { Usd, type OrderId, type PreparedOrder } from '@bezel/protocol'
import { setWithdrawn } from '../store/attemptStore.ts'
import { hasLapsed } from '../trading/orders/openAttempts.ts'
import { orderAnswer } from '../trading/orders/orderModel.ts'
import { notModifiable, type ScopedAction } from '../trading/plan/plan.ts'
import { planCancelOrder } from '../trading/plan/planCancelOrder.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { keepChange, prepareChange } from './changeOrder.ts'
import { runWrite, type SignedWrite, type WriteTurn } from './signedWrite.ts'
import { readOwnOrder, type OrderAtClock } from './orderAtClock.ts'

/**
 * Prepares the cancellation of a resting order or the reclaim of a timed-out request. Withdraws a prepared order at
 * once.
 */
export async function cancelOrder(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
): Promise<PreparedOrder> {
  return runWrite(orders, write, {
    plan: async () => {
      const order = await readOwnOrder(orders.store.read, write, id, orders.clock())
      const plan = planCancelOrder(order)
      requireScope(write.agent.scope, plan === 'withdraw' ? withdrawalOf(order) : plan.action)
      return { order, plan }
    },
    ask: ({ plan }) => (plan === 'withdraw' ? undefined : prepareChange(orders, write, plan)),
    read: (sql, clock) => readOwnOrder(sql, write, id, clock),
    keep: (turn, { order, plan }, attempt, current) =>
      plan === 'withdraw' || attempt === undefined
        ? withdraw(turn, order, current)
        : keepChange(orders, write, turn, { order, current, plan, attempt }),
  })
}

/**
 * Withdraws a prepared order without a transaction: none was reported as sent, or no node knows the reported one. If it
 * is mined all the same, it revives the order. `current` is the order as read in this transaction.
 */
export async function withdraw(
  { sql, agent, clock, refolds }: WriteTurn,
  order: OrderAtClock,
  current: OrderAtClock,
): Promise<PreparedOrder> {
  const { id } = order.record
  requireScope(agent.scope, withdrawalOf(order))
  if (current.state.status !== 'prepared') throw notModifiable(current, 'It was sent, or lapsed, a moment ago.')
  for (const attempt of current.attempts) {
    if (attempt.kind === 'open' && !hasLapsed(attempt, clock.nowMs))
      await setWithdrawn(sql, attempt.id, id, clock.nowMs)
  }
  return { order: orderAnswer(order.record, await refolds.of(id)), transaction: null }
}

/** Returns the facts of a withdrawal that an agent's scope is checked against. */
export function withdrawalOf({ record }: OrderAtClock): ScopedAction {
  return { market: record.request.market, leverage: null, spendUsd: Usd.zero }
}
