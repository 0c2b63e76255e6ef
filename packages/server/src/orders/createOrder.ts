import { scaleDecimal, type CreateOrderRequest, type PreparedOrder } from '@bezel/protocol'
import { OFF_CHAIN } from '../journal/accountLog.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { setWithdrawn } from '../store/attemptStore.ts'
import { findOrderByClientId, listPreparedOrders } from '../store/orderStore.ts'
import { spentUsd } from '../store/spendStore.ts'
import type { Sql } from '../store/sql.ts'
import { hasLapsed, openAttemptsOf } from '../trading/orders/openAttempts.ts'
import type { Attempt, FoldClock, OrderRecord, OrderRequest } from '../trading/orders/orderModel.ts'
import { orderAnswer } from '../trading/orders/orderAnswer.ts'
import { normalizeOrder } from '../trading/plan/normalizeOrder.ts'
import type { OrderPlan } from '../trading/plan/plan.ts'
import { planCreateOrder } from '../trading/plan/planCreateOrder.ts'
import { requireScope, requireSpendCap } from '../trading/scope.ts'
import { utcDayOf } from '../trading/spend.ts'
import type { ChainOrders } from './chainOrders.ts'
import { beforeNode, refuseUndelegated } from './delegation.ts'
import { isDue, makeOrder, type TriedOrder } from './makeOrder.ts'
import { orderAtClock, type OrderAtClock } from './orderAtClock.ts'
import { prepareAttempt } from './prepareAttempt.ts'
import { startRefolds, type Refolds } from '../journal/refolds.ts'
import { requireSameRequest } from './sameRequest.ts'
import { claimWrite, senderOf, type SignedWrite } from './signedWrite.ts'
import { transactionOf } from './transactionOf.ts'

/** `isRepeat`: the order was there already, made by an earlier request with the same clientId. */
export interface CreatedOrder {
  readonly prepared: PreparedOrder
  readonly isRepeat: boolean
}

/**
 * Prepares an order: rules first, then one round trip to the node, then one transaction of the store, which alone decides. A request whose
 * clientId is known answers with that order and asks the node only when its transaction has lapsed.
 */
export async function createOrder(
  orders: ChainOrders,
  write: SignedWrite,
  body: CreateOrderRequest,
): Promise<CreatedOrder> {
  const { request, needsAttempt } = await beforeNode(orders, write, () => readRequest(orders, write, body))
  if (needsAttempt) return commit(orders, write, request, await tryOrder(orders, write, request, body))
  await refuseUndelegated(orders, write)
  return commit(orders, write, request, undefined)
}

/** What is asked for, and whether it is new or lapsed. Throws whatever can be known without the node. */
async function readRequest(
  orders: ChainOrders,
  write: SignedWrite,
  body: CreateOrderRequest,
): Promise<{ readonly request: OrderRequest; readonly needsAttempt: boolean }> {
  const { agent } = write
  const request = normalizeOrder(body, orders.trading())
  // Again with the plan, which knows the spend; but a market that is not allowed is not to be told that it is closed.
  const leverage = request.reduceOnly ? null : (scaleDecimal(request.leverage, 3) ?? null)
  requireScope(agent.scope, { market: request.market, leverage, spendUsd: 0n })
  const clock = orders.clock()
  const known = await findRepeated(orders.store.read, agent, request, clock)
  return { request, needsAttempt: known === undefined || hasToBePrepared(known, write, clock) }
}

async function tryOrder(
  orders: ChainOrders,
  write: SignedWrite,
  request: OrderRequest,
  { collateral }: CreateOrderRequest,
): Promise<TriedOrder> {
  const plan = await beforeNode(orders, write, async () => {
    const { trader } = write.agent
    const positions = orders.positions.ofTrader(trader)
    const made = planCreateOrder(request, orders.trading(), { trader, positions, collateral })
    await checkScopeEarly(orders, write.agent, made)
    return made
  })
  return { plan, attempt: await prepareAttempt(orders, write, plan) }
}

/** Not binding, as others may spend meanwhile: only so that a refusal of the scope comes before one of the contracts. */
async function checkScopeEarly(orders: ChainOrders, agent: AgentRecord, plan: OrderPlan): Promise<void> {
  requireScope(agent.scope, plan.action)
  if (agent.scope.dailySpendCapUsd === null) return
  requireSpendCap(agent.scope, await standingSpend(orders.store.read, agent, orders.now()), plan.action)
}

/** What counts today without the orders that have expired and are given back by the next transaction. */
async function standingSpend(sql: Sql, { chain, agent }: AgentRecord, nowMs: number): Promise<bigint> {
  const day = utcDayOf(nowMs)
  const prepared = await listPreparedOrders(sql, chain, agent)
  return prepared
    .filter(({ state, spendDay }) => spendDay === day && isDue(state, nowMs))
    .reduce((spent, { record }) => spent - record.spendUsd, await spentUsd(sql, chain, agent, day))
}

async function commit(
  orders: ChainOrders,
  write: SignedWrite,
  request: OrderRequest,
  tried: TriedOrder | undefined,
): Promise<CreatedOrder> {
  return orders.accountLog.transaction(OFF_CHAIN, async (sql, journal) => {
    const clock = orders.clock()
    const refolds = startRefolds(sql, clock, journal)
    const agent = await claimWrite(sql, orders, write, clock.nowMs)
    const known = await findRepeated(sql, agent, request, clock)
    return keep(sql, orders, { write: { ...write, agent }, known, tried, refolds, clock })
  })
}

interface Keeping {
  readonly write: SignedWrite
  readonly known: OrderAtClock | undefined
  readonly tried: TriedOrder | undefined
  readonly refolds: Refolds
  readonly clock: FoldClock
}

/** A new order, or the one that is there: as it is, or with the new transaction when it needs one. */
async function keep(
  sql: Sql,
  orders: ChainOrders,
  { write, known, tried, refolds, clock }: Keeping,
): Promise<CreatedOrder> {
  // Without a transaction of our own, because there was one a moment ago, whatever has become of that order is the answer.
  if (known !== undefined && (tried === undefined || !hasToBePrepared(known, write, clock))) {
    // Kept as it is shown: a read must not fall behind an answer.
    const state = await refolds.of(known.record.id)
    return { prepared: repeatOf(orders, { ...known, state }, clock), isRepeat: true }
  }
  if (tried === undefined) throw new Error('an order that was there is gone')
  const renewed = known === undefined ? undefined : await retire(sql, known, refolds, clock)
  const { record, state } = await makeOrder(sql, orders, write, tried, { refolds, renewed })
  const transaction = transactionOf(orders.chain, tried.attempt)
  return { prepared: { order: orderAnswer(record, state), transaction }, isRepeat: known !== undefined }
}

/** The order of this trader that has the clientId. Throws `IDEMPOTENCY_CONFLICT` when it is another one. */
async function findRepeated(
  sql: Sql,
  { chain, trader }: AgentRecord,
  request: OrderRequest,
  clock: FoldClock,
): Promise<OrderAtClock | undefined> {
  if (request.clientId === null) return undefined
  const stored = await findOrderByClientId(sql, chain, trader, request.clientId)
  if (stored === undefined) return undefined
  requireSameRequest(stored.record.request, request)
  return orderAtClock(sql, stored, clock)
}

/** Its transactions have lapsed, or none of them is one that can be sent now. */
function hasToBePrepared(known: OrderAtClock, write: SignedWrite, clock: FoldClock): boolean {
  if (known.state.status === 'expired') return true
  return known.state.status === 'prepared' && standingAttempt(known, clock)?.sender !== senderOf(write)
}

function standingAttempt({ attempts }: OrderAtClock, { nowMs }: FoldClock): Attempt | undefined {
  return openAttemptsOf(attempts, new Set(), nowMs).standing
}

/** The stored order; while it is prepared with the transaction that it was prepared with. */
function repeatOf(orders: ChainOrders, known: OrderAtClock, clock: FoldClock): PreparedOrder {
  const standing = known.state.status === 'prepared' ? standingAttempt(known, clock) : undefined
  return {
    order: orderAnswer(known.record, known.state),
    transaction: standing === undefined ? null : transactionOf(orders.chain, standing),
  }
}

/** Ends what was prepared before, so that it holds neither spend nor a place of whoever prepared it. */
async function retire(sql: Sql, known: OrderAtClock, refolds: Refolds, clock: FoldClock): Promise<OrderRecord> {
  for (const attempt of known.attempts) {
    if (attempt.kind === 'open' && !hasLapsed(attempt, clock.nowMs)) await setWithdrawn(sql, attempt.id, clock.nowMs)
  }
  await refolds.of(known.record.id)
  return known.record
}
