import { type Decimal, type PreparedOrder, ApiError, OrderSize, Price, Usd, type AgentScope } from '@bezel/protocol'
import { isDeepStrictEqual } from 'node:util'
import { insertAttempt } from '../store/attemptStore.ts'
import { type Attempt, type OrderState, orderAnswer, type OrderRecord } from '../trading/orders/orderModel.ts'
import { notModifiable, type ChangePlan, type ScopedAction } from '../trading/plan/plan.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { readOwnOrder, type OrderAtClock } from './orderAtClock.ts'
import { prepareAttempt, transactionOf } from './prepareAttempt.ts'
import type { SignedWrite, WriteTurn } from './signedWrite.ts'

/** A planned change of an order on the chain, with the order as it was when planned. */
interface PlannedChange {
  readonly order: OrderAtClock
  readonly plan: ChangePlan
}

/** Makes the transaction of a change and simulates it. */
export function prepareChange(orders: ChainOrders, write: SignedWrite, plan: ChangePlan): Promise<Attempt> {
  return prepareAttempt(orders, write, plan, replacedSize(plan))
}

/**
 * Stores the attempt with its order. The order itself changes when the transaction is mined; the answer already shows
 * the new values.
 */
export async function keepChange(
  { chain }: Pick<ChainOrders, 'chain'>,
  write: SignedWrite,
  { sql, agent, clock, refolds }: WriteTurn,
  { order, plan, attempt }: PlannedChange & { readonly attempt: Attempt },
): Promise<PreparedOrder> {
  const { id } = order.record
  requireChangeInScope(agent.scope, { order, plan })
  const current = await readOwnOrder(sql, write, id, clock)
  if (!isSameToPlan(current.state, order.state))
    throw notModifiable(current, 'It changed a moment ago: look at it again.')
  await insertAttempt(sql, { chain: chain.slug, orderId: id, attempt })
  await write.relay?.take(sql, attempt)
  const state = await refolds.of(id)
  return { order: orderAnswer(order.record, { ...state, ...plan.changes }), transaction: transactionOf(chain, attempt) }
}

/** Throws when the agent's scope does not allow the change. */
export function requireChangeInScope(scope: SignedWrite['agent']['scope'], { order, plan }: PlannedChange): void {
  requireScope(scope, plan.action)
  if (plan.kind === 'replace') requireRoomForReplace(scope, order.record, plan.action)
}

/**
 * Returns the size to store with a replacement, because the chain does not keep the requested size; `null` for other
 * changes.
 */
function replacedSize({ kind, changes }: ChangePlan): Decimal | null {
  return kind === 'replace' ? (changes.size ?? null) : null
}

/**
 * Returns true when a plan made for `before` is still valid. A change also carries the values that it leaves alone, so
 * those must be the same too.
 */
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

/**
 * Refuses a change that makes an order larger than what it was counted with, when the agent has a daily cap. The
 * counted amount is fixed when the order is made and given back as a whole when it ends unfilled; a larger order has to
 * be cancelled and made anew, which is counted anew. `spendUsd` of the action is the increase.
 */
function requireRoomForReplace(scope: AgentScope, record: OrderRecord, { spendUsd }: ScopedAction): void {
  if (scope.dailySpendCapUsd === null || spendUsd <= uncountedUsd(record)) return
  throw new ApiError(
    'SCOPE_SPEND_CAP_EXCEEDED',
    "The agent has a daily cap, so a change can't raise an order's notional above what it was counted with: cancel it and make a new one.",
    {
      dailySpendCapUsd: scope.dailySpendCapUsd,
      notionalUsd: Usd.format(Usd.of(record.spendUsd + spendUsd)),
      countedUsd: Usd.format(record.spendUsd),
    },
  )
}

/**
 * Returns the uncounted notional of an order. An order made elsewhere does not count, so it may stay as large as it was
 * found.
 */
function uncountedUsd({ agent, request }: OrderRecord): Usd {
  if (agent !== null || request.price === null) return Usd.zero
  return Usd.of(OrderSize.parseTruncated(request.size) * Price.parseTruncated(request.price))
}
