import type { Decimal, PreparedOrder } from '@bezel/protocol'
import { isDeepStrictEqual } from 'node:util'
import { OFF_CHAIN } from '../journal/accountLog.ts'
import { insertAttempt } from '../store/attemptStore.ts'
import type { OrderState } from '../trading/orders/orderModel.ts'
import { orderAnswer } from '../trading/orders/orderAnswer.ts'
import { notModifiable, type ChangePlan } from '../trading/plan/plan.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { ownOrder, type OrderAtClock } from './orderAtClock.ts'
import { prepareAttempt } from './prepareAttempt.ts'
import { startRefolds } from '../journal/refolds.ts'
import { requireRoomForReplace } from './replaceSpend.ts'
import { claimWrite, type SignedWrite } from './signedWrite.ts'
import { transactionOf } from './transactionOf.ts'

/**
 * Prepares a change of an order that is on the chain and keeps the attempt with it. The order itself changes when that is mined; the answer
 * shows it as it will be then.
 */
export async function changeOrder(
  orders: ChainOrders,
  write: SignedWrite,
  planned: { readonly order: OrderAtClock; readonly plan: ChangePlan },
): Promise<PreparedOrder> {
  const { order, plan } = planned
  const { id } = order.record
  const attempt = await prepareAttempt(orders, write, plan, replacedSize(plan))
  const state = await orders.accountLog.transaction(OFF_CHAIN, async (sql, journal) => {
    const clock = orders.clock()
    const agent = await claimWrite(sql, orders, write, clock.nowMs)
    requireChangeInScope(agent.scope, planned)
    const current = await ownOrder(sql, write, id, clock)
    if (!isSameToPlan(current.state, order.state))
      throw notModifiable(current, 'It changed a moment ago: look at it again.')
    await insertAttempt(sql, { chain: orders.chain.slug, orderId: id, attempt })
    await write.relay?.take(sql, attempt)
    return startRefolds(sql, clock, journal).of(id)
  })
  const transaction = transactionOf(orders.chain, attempt)
  return { order: orderAnswer(order.record, { ...state, ...plan.changes }), transaction }
}

/** What an agent's scope says to a change. */
export function requireChangeInScope(
  scope: SignedWrite['agent']['scope'],
  { order, plan }: { readonly order: OrderAtClock; readonly plan: ChangePlan },
): void {
  requireScope(scope, plan.action)
  if (plan.kind === 'replace') requireRoomForReplace(scope, order.record, plan.action)
}

/** The chain does not keep the size that was asked for. */
function replacedSize({ kind, changes }: ChangePlan): Decimal | null {
  return kind === 'replace' ? (changes.size ?? null) : null
}

/** Whether a plan made for `before` is still the right one: a change carries the values it leaves alone, so those must not have moved either. */
function isSameToPlan(now: OrderState, before: OrderState): boolean {
  const pick = ({
    status,
    size,
    price,
    sl,
    tp,
    slippage,
    tradeIndex,
    unanswered,
  }: OrderState): Partial<OrderState> => ({ status, size, price, sl, tp, slippage, tradeIndex, unanswered })
  return isDeepStrictEqual(pick(now), pick(before))
}
