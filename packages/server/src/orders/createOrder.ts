import { ApiError, Leverage, Usd, type CreateOrderRequest, type PreparedOrder } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { setWithdrawn } from '../store/attemptStore.ts'
import { findOrderByClientId, listPreparedOrders } from '../store/orderStore.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import type { Sql } from '../store/sql.ts'
import { hasLapsed, openAttemptsOf } from '../trading/orders/openAttempts.ts'
import {
  type Attempt,
  type FoldClock,
  type OrderRecord,
  type OrderRequest,
  orderAnswer,
} from '../trading/orders/orderModel.ts'
import { normalizeOrder } from '../trading/plan/normalizeOrder.ts'
import type { OrderPlan } from '../trading/plan/plan.ts'
import { planCreateOrder } from '../trading/plan/planCreateOrder.ts'
import { requireScope, requireSpendCap, utcDayOf } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { runWrite, senderOf, type SignedWrite } from './signedWrite.ts'
import { isDue, makeOrder, type TriedOrder } from './makeOrder.ts'
import { readOrderAtClock, type OrderAtClock } from './orderAtClock.ts'
import { prepareAttempt, transactionOf } from './prepareAttempt.ts'
import type { Refolds } from '../journal/refold.ts'

/** A created order; `isRepeat` is true when an earlier request with the same clientId had created it. */
interface CreatedOrder {
  readonly prepared: PreparedOrder
  readonly isRepeat: boolean
}

/**
 * Prepares an order: applies the rules, makes one round trip to the node, then stores the order in one transaction,
 * whose checks alone are binding. A request with a known clientId returns that order, and asks the node only when its
 * transaction has lapsed.
 */
export async function createOrder(
  orders: ChainOrders,
  write: SignedWrite,
  body: CreateOrderRequest,
): Promise<CreatedOrder> {
  return runWrite(orders, write, {
    plan: () => planRequest(orders, write, body),
    ask: ({ plan }) => (plan === undefined ? undefined : tryOrder(orders, write, plan)),
    keep: async ({ sql, agent, clock, refolds }, { request }, tried) => {
      const known = await findRepeated(sql, agent, request, clock)
      return keep(sql, orders, { write: { ...write, agent }, known, tried, refolds, clock })
    },
  })
}

/** A request and its plan; the plan is `undefined` for a repeat whose transaction is still valid. */
interface PlannedRequest {
  readonly request: OrderRequest
  readonly plan: OrderPlan | undefined
}

/** Normalises and plans a request. Throws every refusal that needs no node. */
async function planRequest(orders: ChainOrders, write: SignedWrite, body: CreateOrderRequest): Promise<PlannedRequest> {
  const { agent } = write
  const request = normalizeOrder(body, orders.trading())
  // Checked again with the plan, which knows the spend. Checked here already so that a market outside the scope is
  // refused as such, and not as closed.
  const leverage = request.reduceOnly ? null : (Leverage.parse(request.leverage) ?? null)
  requireScope(agent.scope, { market: request.market, leverage, spendUsd: Usd.zero })
  const clock = orders.clock()
  const known = await findRepeated(orders.store.read, agent, request, clock)
  if (known !== undefined && !hasToBePrepared(known, write, clock)) return { request, plan: undefined }
  const { trader } = agent
  const positions = orders.positions.ofTrader(trader)
  const plan = planCreateOrder(request, orders.trading(), { trader, positions, collateral: body.collateral })
  await checkScopeEarly(orders, agent, plan)
  return { request, plan }
}

async function tryOrder(orders: ChainOrders, write: SignedWrite, plan: OrderPlan): Promise<TriedOrder> {
  return { plan, attempt: await prepareAttempt(orders, write, plan) }
}

/**
 * Checks the scope before the node is asked, so that its refusal comes before one of the contracts. Not binding, as
 * other writes may spend meanwhile.
 */
async function checkScopeEarly(orders: ChainOrders, agent: AgentRecord, plan: OrderPlan): Promise<void> {
  requireScope(agent.scope, plan.action)
  if (agent.scope.dailySpendCapUsd === null) return
  requireSpendCap(agent.scope, await readStandingSpend(orders.store.read, agent, orders.now()), plan.action)
}

/** Returns the amount counted today, without the expired orders that the next transaction gives back. */
async function readStandingSpend(sql: Sql, { chain, agent }: AgentRecord, nowMs: number): Promise<Usd> {
  const day = utcDayOf(nowMs)
  const prepared = await listPreparedOrders(sql, chain, agent)
  const spentUsd = prepared
    .filter(({ state, spendDay }) => spendDay === day && isDue(state, nowMs))
    .reduce<bigint>((spent, { record }) => spent - record.spendUsd, await readSpentUsd(sql, chain, agent, day))
  return Usd.of(spentUsd)
}

interface Keeping {
  readonly write: SignedWrite
  readonly known: OrderAtClock | undefined
  readonly tried: TriedOrder | undefined
  readonly refolds: Refolds
  readonly clock: FoldClock
}

/** Stores a new order, or returns the existing one, with the new transaction when it needs one. */
async function keep(
  sql: Sql,
  orders: ChainOrders,
  { write, known, tried, refolds, clock }: Keeping,
): Promise<CreatedOrder> {
  // A request that prepared no transaction, because a valid one existed a moment ago, returns the order in whatever
  // state it is now.
  if (known !== undefined && (tried === undefined || !hasToBePrepared(known, write, clock))) {
    // The shown state is stored, so that a later read does not show an older one.
    const state = await refolds.of(known.record.id)
    return { prepared: repeatOf(orders, { ...known, state }, clock), isRepeat: true }
  }
  if (tried === undefined) throw new Error('an order that was there is gone')
  const renewed = known === undefined ? undefined : await retire(sql, known, refolds, clock)
  const { record, state } = await makeOrder(sql, orders, write, tried, { refolds, renewed })
  const transaction = transactionOf(orders.chain, tried.attempt)
  return { prepared: { order: orderAnswer(record, state), transaction }, isRepeat: known !== undefined }
}

/**
 * Finds the trader's order with the clientId. Throws `IDEMPOTENCY_CONFLICT` when that order differs from the request.
 */
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
  return readOrderAtClock(sql, stored, clock)
}

/** Returns true when the order needs a new transaction: all have lapsed, or the valid one is for another sender. */
function hasToBePrepared(known: OrderAtClock, write: SignedWrite, clock: FoldClock): boolean {
  if (known.state.status === 'expired') return true
  return known.state.status === 'prepared' && standingAttempt(known, clock)?.sender !== senderOf(write)
}

function standingAttempt({ attempts }: OrderAtClock, { nowMs }: FoldClock): Attempt | undefined {
  return openAttemptsOf(attempts, new Set(), nowMs).standing
}

/** Returns the stored order, with its transaction while it is prepared. */
function repeatOf(orders: ChainOrders, known: OrderAtClock, clock: FoldClock): PreparedOrder {
  const standing = known.state.status === 'prepared' ? standingAttempt(known, clock) : undefined
  return {
    order: orderAnswer(known.record, known.state),
    transaction: standing === undefined ? null : transactionOf(orders.chain, standing),
  }
}

/**
 * Withdraws the earlier transactions of an order, so that it no longer holds spend or a place of the agent that
 * prepared them.
 */
async function retire(sql: Sql, known: OrderAtClock, refolds: Refolds, clock: FoldClock): Promise<OrderRecord> {
  for (const attempt of known.attempts) {
    if (attempt.kind === 'open' && !hasLapsed(attempt, clock.nowMs)) await setWithdrawn(sql, attempt.id, clock.nowMs)
  }
  await refolds.of(known.record.id)
  return known.record
}

/** Fields that the caller decides; the others follow from them and from the chain at that time. */
const ASKED = [
  'market',
  'side',
  'type',
  'size',
  'leverage',
  'price',
  'collateral',
  'sl',
  'tp',
  'reduceOnly',
  'slippage',
] as const satisfies readonly (keyof OrderRequest)[]

/** Fields in which a close stores the position's value, so that the requested value is not known any more. */
const TAKEN_FROM_POSITION: ReadonlySet<keyof OrderRequest> = new Set(['leverage', 'collateral'])

/**
 * Throws `IDEMPOTENCY_CONFLICT` when the clientId stands for another order. Both requests are canonical with defaults
 * filled in.
 */
function requireSameRequest(stored: OrderRequest, asked: OrderRequest): void {
  const compared = asked.reduceOnly ? ASKED.filter((field) => !TAKEN_FROM_POSITION.has(field)) : ASKED
  const differing = compared.filter((field) => stored[field] !== asked[field])
  if (differing.length === 0) return
  throw new ApiError('IDEMPOTENCY_CONFLICT', 'This clientId was used for another order: choose a new one.', {
    clientId: asked.clientId,
    differing,
  })
}
