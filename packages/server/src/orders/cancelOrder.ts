import type { OrderId, PreparedOrder } from '@bezel/protocol'
import { OFF_CHAIN } from '../journal/accountLog.ts'
import { setWithdrawn } from '../store/attemptStore.ts'
import { hasLapsed } from '../trading/orders/openAttempts.ts'
import { orderAnswer } from '../trading/orders/orderAnswer.ts'
import { notModifiable } from '../trading/plan/plan.ts'
import { planCancelOrder } from '../trading/plan/planCancelOrder.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { changeOrder, requireChangeInScope } from './changeOrder.ts'
import { beforeNode, refuseUndelegated } from './delegation.ts'
import { ownOrder, type OrderAtClock } from './orderAtClock.ts'
import { startRefolds } from '../journal/refolds.ts'
import { claimWrite, type SignedWrite } from './signedWrite.ts'

/** Prepares the cancellation of a resting order or the reclaim of a timed-out request; a prepared order is withdrawn at once. */
export async function cancelOrder(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
): Promise<PreparedOrder> {
  const { order, plan } = await beforeNode(orders, write, async () => {
    const found = await ownOrder(orders.store.read, write, id, orders.clock())
    const made = planCancelOrder(found)
    if (made === 'withdraw') requireScope(write.agent.scope, withdrawal(found))
    else requireChangeInScope(write.agent.scope, { order: found, plan: made })
    return { order: found, plan: made }
  })
  return plan === 'withdraw' ? withdraw(orders, write, order) : changeOrder(orders, write, { order, plan })
}

/** Nothing of it reached the chain, as far as anybody said, so nothing has to. A transaction that is mined all the same revives the order. */
async function withdraw(orders: ChainOrders, write: SignedWrite, order: OrderAtClock): Promise<PreparedOrder> {
  await refuseUndelegated(orders, write)
  const { id } = order.record
  const state = await orders.accountLog.transaction(OFF_CHAIN, async (sql, journal) => {
    const clock = orders.clock()
    const agent = await claimWrite(sql, orders, write, clock.nowMs)
    requireScope(agent.scope, withdrawal(order))
    const current = await ownOrder(sql, write, id, clock)
    if (current.state.status !== 'prepared') throw notModifiable(current, 'It was sent, or lapsed, a moment ago.')
    for (const attempt of current.attempts) {
      if (attempt.kind === 'open' && !hasLapsed(attempt, clock.nowMs)) await setWithdrawn(sql, attempt.id, clock.nowMs)
    }
    return startRefolds(sql, clock, journal).of(id)
  })
  return { order: orderAnswer(order.record, state), transaction: null }
}

function withdrawal({ record }: OrderAtClock) {
  return { market: record.request.market, leverage: null, spendUsd: 0n }
}
