import { BaseSize, max, Price, Usd, type Decimal, type PreparedOrder } from '@bezel/protocol'
import { isDeepStrictEqual } from 'node:util'
import type { Alongside } from '../chain/prepareTransaction.ts'
import { insertAttempt } from '../store/attemptStore.ts'
import { insertCharge, listCharges } from '../store/changeChargeStore.ts'
import type { Sql } from '../store/sql.ts'
import { minedChargesUsd } from '../trading/orders/countedSpend.ts'
import { type Attempt, type OrderState, orderAnswer, type OrderRecord } from '../trading/orders/orderModel.ts'
import { notModifiable, warningsOf, type ChangePlan } from '../trading/plan/plan.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import type { OrderAtClock } from './orderAtClock.ts'
import { prepareAttempt, transactionOf } from './prepareAttempt.ts'
import type { RelayPurpose, SignedWrite, WriteTurn } from './signedWrite.ts'
import { readUse, requireSpend } from './spendCap.ts'

/** A planned change of an order on the chain, with the order as it was when planned. */
interface PlannedChange {
  readonly order: OrderAtClock
  readonly plan: ChangePlan
}

/** A change that was simulated. */
interface TriedChange extends PlannedChange {
  /** The order as read in the transaction that stores the change. */
  readonly current: OrderAtClock
  readonly attempt: Attempt
  /** Its place among the orders of its transaction; default 0. */
  readonly place?: number
}

/** Makes the transaction of a change and simulates it. */
export function prepareChange(
  orders: ChainOrders,
  write: SignedWrite,
  plan: ChangePlan,
  alongside?: Alongside,
): Promise<Attempt> {
  return prepareAttempt(orders, write, plan, { size: replacedSize(plan), alongside })
}

/**
 * Stores the attempt with its order, and the amount by which it makes the order larger, which counts against the
 * agent's cap. The order itself changes when the transaction is mined; the answer already shows the new values.
 */
export async function keepChange(
  { chain }: Pick<ChainOrders, 'chain'>,
  write: SignedWrite,
  { sql, agent, refolds }: WriteTurn,
  { order, current, plan, attempt, place = 0 }: TriedChange,
): Promise<PreparedOrder> {
  const { id } = order.record
  requireScope(agent.scope, plan.action)
  if (!isSameToPlan(current.state, order.state))
    throw notModifiable(current, 'It changed a moment ago: look at it again.')
  const growthUsd = await readGrowth(sql, { order: current, plan })
  if (growthUsd > 0n) {
    // Earlier changes of this order that have lapsed give back first.
    await refolds.of(id)
    const nowMs = attempt.createdAtMs
    await requireSpend(sql, agent, growthUsd, { nowMs, refolds, use: await readUse(sql, agent, nowMs) })
  }
  await insertAttempt(sql, { chain: chain.slug, orderId: id, attempt, place })
  if (growthUsd > 0n) {
    await insertCharge(sql, { attemptId: attempt.id, orderId: id, agent: agent.agent, usd: growthUsd })
  }
  await write.relay?.take(sql, attempt, purposeOf(order.record, plan))
  const state = await refolds.of(id)
  return {
    order: orderAnswer(order.record, { ...state, ...plan.changes }),
    transaction: transactionOf(chain, attempt),
    ...warningsOf(plan),
  }
}

function purposeOf({ id, request }: OrderRecord, { kind }: ChangePlan): RelayPurpose {
  if (kind !== 'cancel' && kind !== 'reclaim') return { kind: 'other' }
  if (request.kind !== 'close') return { kind: 'cancel', orderId: id }
  return { kind: 'cancel', positionIds: request.legs.map(({ positionId }) => positionId) }
}

/** Returns the notional that a change adds to what its order already counts; 0 when it adds none. */
export async function readGrowth(sql: Sql, { order, plan }: PlannedChange): Promise<Usd> {
  if (plan.kind !== 'replace') return Usd.zero
  const countedUsd = madeWithUsd(order.record) + minedChargesUsd(await listCharges(sql, order.record.id), order)
  return max(Usd.of(plan.action.spendUsd - countedUsd), Usd.zero)
}

/** Returns what an order was made with. One made elsewhere does not count, but may stay as large as it was found. */
function madeWithUsd({ agent, request, spendUsd }: OrderRecord): Usd {
  if (agent !== null || request.price === null) return spendUsd
  return Usd.of((BaseSize.parseTruncated(request.size) * Price.parseTruncated(request.price)) / Price.one)
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
