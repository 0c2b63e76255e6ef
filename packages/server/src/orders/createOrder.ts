import { ApiError, Leverage, Slippage, Usd, type CreateOrderRequest, type PreparedOrder } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { setWithdrawn } from '../store/attemptStore.ts'
import { findOrderByClientId } from '../store/orderStore.ts'
import type { Sql, Transaction } from '../store/sql.ts'
import { hasLapsed, mayBeOnItsWay, openAttemptsOf } from '../trading/orders/openAttempts.ts'
import {
  type Attempt,
  type FoldClock,
  type OrderRecord,
  type OrderRequest,
  orderAnswer,
} from '../trading/orders/orderModel.ts'
import { tightCloseWarnings } from '../trading/plan/closingSlippage.ts'
import { normalizeOrder } from '../trading/plan/normalizeOrder.ts'
import { warningsOf, type OrderPlan, type TradingContext } from '../trading/plan/plan.ts'
import { planCreateOrder } from '../trading/plan/planCreateOrder.ts'
import { warningsOfRequest } from '../trading/plan/stops.ts'
import { requireScope, requireSpendCap } from '../trading/scope.ts'
import { openingContext, type ChainOrders } from './chainOrders.ts'
import { runWrite, senderOf, type SignedWrite } from './signedWrite.ts'
import { makeOrder, readRoom, type OrderRoom, type TriedOrder } from './makeOrder.ts'
import { readOrderAtClock, type OrderAtClock } from './orderAtClock.ts'
import { prepareAttempt, transactionOf } from './prepareAttempt.ts'
import { fixedMarks, prepareSized, type SizedPlan } from './prepareSized.ts'
import { readStandingSpend } from './spendCap.ts'
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
    ask: ({ sized }) => (sized === undefined ? undefined : tryOrder(orders, write, sized)),
    read: async (sql, clock, { request, isKnown }, tried) => {
      const nowMs = tried?.attempt.createdAtMs
      const [known, room] = await Promise.all([
        findRepeated(sql, write.agent, request, clock),
        nowMs === undefined || isKnown ? undefined : readRoom(sql, write.agent, { nowMs, isNew: true }),
      ])
      return { known, room }
    },
    keep: async ({ sql, agent, clock, refolds }, _planned, tried, { known, room }) =>
      keep(sql, orders, { write: { ...write, agent }, known, tried, room, refolds, clock }),
  })
}

/** A request and its plan; the plan is `undefined` for a repeat whose transaction is still valid. */
interface PlannedRequest {
  readonly request: OrderRequest
  readonly sized: SizedPlan<OrderPlan> | undefined
  /** True when there is an order with the clientId. */
  readonly isKnown: boolean
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
  const { read } = orders.store
  const isCapped = agent.scope.dailySpendCapUsd !== null && !request.reduceOnly
  const [known, spentUsd] = await Promise.all([
    findRepeated(read, agent, request, clock),
    isCapped ? readStandingSpend(read, agent, orders.now()) : Usd.zero,
  ])
  const isKnown = known !== undefined
  if (isKnown && !hasToBePrepared(known, write, clock)) return { request, sized: undefined, isKnown }
  const sized = await planSized(orders, agent, request, body.collateral)
  const { action } = sized.plan
  requireScope(agent.scope, action)
  // Before the node is asked, so that this refusal comes before one of the contracts.
  if (action.spendUsd > 0n) requireSpendCap(agent.scope, spentUsd, action)
  return { request, sized, isKnown }
}

/** Plans a normalized request of a trader. `collateral` is the one that the body names, if any. */
export async function planSized(
  orders: Pick<ChainOrders, 'positions' | 'trading' | 'witness'>,
  { trader }: Pick<AgentRecord, 'trader'>,
  request: OrderRequest,
  collateral: string | undefined,
): Promise<SizedPlan<OrderPlan>> {
  const account = { trader, positions: orders.positions.ofTrader(trader), collateral }
  const planAt = (at: TradingContext): OrderPlan => planCreateOrder(request, at, account)
  const context = fixedMarks(request.reduceOnly ? orders.trading() : await openingContext(orders, request))
  return { plan: planAt(context), planAt, context, sizedIn: request.reduceOnly ? null : request }
}

async function tryOrder(orders: ChainOrders, write: SignedWrite, sized: SizedPlan<OrderPlan>): Promise<TriedOrder> {
  return prepareSized(orders, write, sized, (plan, alongside) => prepareAttempt(orders, write, plan, { alongside }))
}

interface Keeping {
  readonly write: SignedWrite
  readonly known: OrderAtClock | undefined
  readonly tried: TriedOrder | undefined
  readonly room: OrderRoom | undefined
  readonly refolds: Refolds
  readonly clock: FoldClock
}

/** Stores a new order, or returns the existing one, with the new transaction when it needs one. */
async function keep(
  sql: Transaction,
  orders: ChainOrders,
  { write, known, tried, room, refolds, clock }: Keeping,
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
  // What is retired gives back first.
  const isRead = room !== undefined && renewed === undefined
  const of = { nowMs: tried.attempt.createdAtMs, isNew: renewed === undefined }
  const own = isRead ? room : await readRoom(sql, write.agent, of)
  const { record, state } = await makeOrder(sql, orders, write, tried, { refolds, renewed, room: own })
  const transaction = transactionOf(orders.chain, tried.attempt)
  const prepared = { order: orderAnswer(record, state), transaction, ...warningsOf(tried.plan) }
  return { prepared, isRepeat: known !== undefined }
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

/**
 * Returns true when the order needs a new transaction: all have lapsed, or the valid one is for another sender. Not
 * while one may be on its way, because both could be mined then.
 */
function hasToBePrepared(known: OrderAtClock, write: SignedWrite, clock: FoldClock): boolean {
  if (mayBeOnItsWay(known.attempts, clock.nowMs)) return false
  if (known.state.status === 'expired') return true
  return known.state.status === 'prepared' && standingAttempt(known, clock)?.sender !== senderOf(write)
}

function standingAttempt({ attempts }: OrderAtClock, { nowMs }: FoldClock): Attempt | undefined {
  return openAttemptsOf(attempts, new Set(), nowMs).standing
}

/** Returns the stored order, with its transaction while it is prepared and nothing was reported for it. */
function repeatOf(orders: ChainOrders, known: OrderAtClock, clock: FoldClock): PreparedOrder {
  const isUnsent = known.state.status === 'prepared' && !mayBeOnItsWay(known.attempts, clock.nowMs)
  const standing = isUnsent ? standingAttempt(known, clock) : undefined
  const order = orderAnswer(known.record, known.state)
  if (standing === undefined) return { order, transaction: null }
  const { request } = known.record
  const closed = request.legs
    .map(({ positionId }) => orders.positions.find(positionId))
    .filter((one) => one !== undefined)
  const warnings = [
    ...warningsOfRequest(request, orders.trading()),
    ...tightCloseWarnings(Slippage.parse(request.slippage)!, closed),
  ]
  return { order, transaction: transactionOf(orders.chain, standing), ...warningsOf({ warnings }) }
}

/**
 * Withdraws the earlier transactions of an order, so that it no longer holds spend or a place of the agent that
 * prepared them.
 */
async function retire(sql: Sql, known: OrderAtClock, refolds: Refolds, clock: FoldClock): Promise<OrderRecord> {
  for (const attempt of known.attempts) {
    if (attempt.kind === 'open' && !hasLapsed(attempt, clock.nowMs))
      await setWithdrawn(sql, attempt.id, known.record.id, clock.nowMs)
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
