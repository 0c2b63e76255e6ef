import {
  ApiError,
  MAX_BATCH_LEGS,
  Slippage,
  Usd,
  type Decimal,
  type FlattenRequest,
  type LeftOut,
  type MarketSymbol,
  type Order,
  type OrderId,
  type PreparedBatch,
  type Warning,
} from '@bezel/protocol'
import { requirePassed, type Alongside } from '../chain/prepareTransaction.ts'
import type { RpcCall } from '../chain/rpcClient.ts'
import { listLiveOrders, type StoredOrder } from '../store/orderStore.ts'
import { filteredMarket } from '../trading/market/marketNotFound.ts'
import { type Attempt, type AttemptId, orderAnswer } from '../trading/orders/orderModel.ts'
import { readTerms, requirePrecision } from '../trading/plan/bodyTerms.ts'
import { MAX_CALLS, wrapCalls } from '../trading/plan/encodeCall.ts'
import { warningsOf, type ChangePlan, type OrderPlan, type Plan } from '../trading/plan/plan.ts'
import { planCancelOrder } from '../trading/plan/planCancelOrder.ts'
import { planClosePosition } from '../trading/plan/planClosePosition.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'
import { requireScope } from '../trading/scope.ts'
import { withdraw, withdrawalOf } from './cancelOrder.ts'
import type { ChainOrders } from './chainOrders.ts'
import { keepChange } from './changeOrder.ts'
import { requireRoom, storeOrder } from './makeOrder.ts'
import { readOwnOrder, type OrderAtClock } from './orderAtClock.ts'
import { prepareAttempt, transactionOf } from './prepareAttempt.ts'
import { runWrite, senderOf, type SignedWrite, type WriteTurn } from './signedWrite.ts'
import { readUse, requireSpend } from './spendCap.ts'

/** The part of an account that is ended: its orders, its positions, or both. */
export type Ended = 'orders' | 'positions' | 'all'

/** The end of an order or a position. A withdrawal needs no transaction. */
type Leg =
  | { readonly kind: 'withdraw'; readonly order: OrderAtClock }
  | { readonly kind: 'change'; readonly order: OrderAtClock; readonly plan: ChangePlan }
  | { readonly kind: 'close'; readonly plan: OrderPlan }

/** An order or a position of a page: the leg that ends it, or the reason for which it stays as it is. */
interface Item {
  readonly id: OrderId
  /** Cursor behind it. */
  readonly cursor: string
  readonly leg: Leg | ApiError
}

/** The orders and positions that one request looks at, in the order of the transaction's calls: orders first. */
interface Page {
  readonly items: readonly Item[]
  readonly hasMore: boolean
}

/** A page whose transaction was simulated; `attempt` is `undefined` when none of it needs a transaction. */
interface TriedPage extends Page {
  readonly attempt: Attempt | undefined
}

/**
 * Prepares the end of all orders, all positions or both, one page at a time: cancels resting orders, reclaims timed-out
 * requests and closes positions in one transaction, and withdraws prepared orders at once. Whatever can't be ended is
 * left out and named, so that it does not hold up the others.
 */
export async function flatten(
  orders: ChainOrders,
  write: SignedWrite,
  ended: Ended,
  body: FlattenRequest,
): Promise<PreparedBatch> {
  const conflicts: ApiError[] = []
  for (;;) {
    try {
      return await runWrite(orders, write, {
        plan: () => planPage(orders, write, ended, body, conflicts),
        ask: (page) => (page.items.some(isSent) ? tryPage(orders, write, page) : undefined),
        keep: (turn, page, tried) => keepPage(orders, write, turn, tried ?? { ...page, attempt: undefined }),
      })
    } catch (error) {
      // An order of the page changed while the node was asked, and nothing was stored.
      if (!(error instanceof ApiError) || error.code !== 'ORDER_NOT_MODIFIABLE') throw error
      conflicts.push(error)
      if (conflicts.length === MAX_TRIES) throw error
    }
  }
}

/** Attempts at a page that does not change while it is prepared. */
const MAX_TRIES = 10

/** Changes of one order during these attempts after which it is left out, so that the others are not held up by it. */
const MAX_CHANGES = 2

async function planPage(
  orders: ChainOrders,
  write: SignedWrite,
  ended: Ended,
  body: FlattenRequest,
  conflicts: readonly ApiError[],
): Promise<Page> {
  requirePlannable(orders, ended)
  const market = body.market === undefined ? undefined : filteredMarket(orders.trading().chain, body.market)
  if (market !== undefined) requireScope(write.agent.scope, { market, leverage: null, spendUsd: Usd.zero })
  const { slippage } = readTerms({ slippage: body.slippage })
  if (slippage !== undefined) requirePrecision('slippage', slippage, Slippage.decimals)
  const items: Item[] = []
  let calls = 0
  for (const target of await listTargets(orders, write, ended, { market, next: body.next })) {
    if (items.length === MAX_BATCH_LEGS) return { items, hasMore: true }
    const item = await planItem(orders, write, target, { slippage, conflicts })
    calls += callsOf(item).length
    if (calls > MAX_CALLS) return { items, hasMore: true }
    items.push(item)
  }
  return { items, hasMore: false }
}

/**
 * Throws `NOT_READY` while no page can be planned. While the Diamond is changed nothing is sent to it, but everything
 * is known, and orders that are only prepared end without it.
 */
function requirePlannable({ trading }: Pick<ChainOrders, 'trading'>, ended: Ended): void {
  try {
    trading()
  } catch (error) {
    const isChanged = error instanceof ApiError && error.details?.reason === 'diamond_changed'
    if (!isChanged || ended !== 'orders') throw error
  }
}

type Target =
  | { readonly kind: 'order'; readonly id: OrderId; readonly order: StoredOrder }
  | { readonly kind: 'position'; readonly id: OrderId; readonly position: LivePosition }

/** Lists what is to be ended: orders before positions, so that none opens what was just closed, each oldest first. */
async function listTargets(
  { chain, store, positions, trading }: ChainOrders,
  { agent: { trader } }: SignedWrite,
  ended: Ended,
  { market, next }: { readonly market: MarketSymbol | undefined; readonly next: string | undefined },
): Promise<readonly Target[]> {
  const isPastOrders = next?.startsWith('p') === true
  const live = ended === 'positions' || isPastOrders ? [] : await listLiveOrders(store.read, chain.slug, trader)
  const held = ended === 'orders' ? [] : positions.ofTrader(trader)
  const byAge = (a: Target, b: Target): number => Number(a.id) - Number(b.id)
  const isAfter = (target: Target): boolean =>
    next === undefined || next[0] !== target.kind[0] || Number(target.id) > Number(next.slice(1))
  const ofOrders = live
    .filter(({ record }) => market === undefined || record.request.market === market)
    .map((order): Target => ({ kind: 'order', id: order.record.id, order }))
  const ofPositions = held
    .filter(({ state }) => market === undefined || trading().chain.symbols.get(state.trade.pairIndex) === market)
    .map((position): Target => ({ kind: 'position', id: position.record.id, position }))
  return [...ofOrders.toSorted(byAge), ...ofPositions.toSorted(byAge)].filter(isAfter)
}

async function planItem(
  orders: ChainOrders,
  write: SignedWrite,
  target: Target,
  { slippage, conflicts }: { readonly slippage: Decimal | undefined; readonly conflicts: readonly ApiError[] },
): Promise<Item> {
  const { kind, id } = target
  const cursor = `${kind[0]}${id}`
  const changes = conflicts.filter(({ details }) => details?.id === id)
  if (changes.length >= MAX_CHANGES) return { id, cursor, leg: changes.at(-1)! }
  try {
    return { id, cursor, leg: await planLeg(orders, write, target, slippage) }
  } catch (error) {
    if (error instanceof ApiError) return { id, cursor, leg: error }
    throw error
  }
}

/** Plans the end of one order or position, by the rules of a request for it alone. Throws when they refuse it. */
async function planLeg(
  orders: ChainOrders,
  write: SignedWrite,
  target: Target,
  slippage: Decimal | undefined,
): Promise<Leg> {
  const { scope } = write.agent
  if (target.kind === 'position') {
    const plan = planClosePosition(target.position, slippage === undefined ? {} : { slippage }, orders.trading())
    requireScope(scope, plan.action)
    return { kind: 'close', plan }
  }
  const order = await readOwnOrder(orders.store.read, write, target.id, orders.clock())
  const plan = planCancelOrder(order)
  requireScope(scope, plan === 'withdraw' ? withdrawalOf(order) : plan.action)
  return plan === 'withdraw' ? { kind: 'withdraw', order } : { kind: 'change', order, plan }
}

function planOf({ leg }: Item): Plan | undefined {
  return leg instanceof ApiError || leg.kind === 'withdraw' ? undefined : leg.plan
}

function callsOf(item: Item): Plan['calls'] {
  return planOf(item)?.calls ?? []
}

function isSent(item: Item): boolean {
  return planOf(item) !== undefined
}

/**
 * Simulates the transaction of a page and, in the same round trip, each leg of it alone. When the transaction would
 * revert, it is tried again without the legs that revert alone; when each of them passes alone, with the first half.
 */
async function tryPage(orders: ChainOrders, write: SignedWrite, page: Page): Promise<TriedPage> {
  const sent = page.items.filter(isSent)
  if (sent.length === 0) return { ...page, attempt: undefined }
  const refusals = new Map<Item, ApiError>()
  try {
    const alongside = sent.length === 1 ? undefined : eachAlone(orders, write, sent, refusals)
    return { ...page, attempt: await prepareAttempt(orders, write, joinedPlan(sent), { alongside }) }
  } catch (error) {
    if (!isReverted(error)) throw error
    if (sent.length === 1) refusals.set(sent[0]!, error)
    if (refusals.size === 0) return tryPage(orders, write, firstHalf(page, sent))
    const items = page.items.map((item) => ({ ...item, leg: refusals.get(item) ?? item.leg }))
    return tryPage(orders, write, { ...page, items })
  }
}

function isReverted(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'SIMULATION_REVERTED'
}

/** Id behind the calldata of a leg that is only simulated. */
const NO_ATTEMPT = '0x0000000000000000' as AttemptId

/** Returns the simulations of each leg alone, whose refusals are added to `refusals`. */
function eachAlone(
  { chain }: ChainOrders,
  write: SignedWrite,
  sent: readonly Item[],
  refusals: Map<Item, ApiError>,
): Alongside {
  const agent = senderOf(write)
  const { trader } = write.agent
  const wrapped = sent.map((item) => wrapCalls({ calls: callsAlone(item, sent), trader, agent, attemptId: NO_ATTEMPT }))
  const callOf = (data: string): RpcCall => ({
    method: 'eth_call',
    params: [{ from: agent, to: chain.diamond, data }, 'latest'],
  })
  return {
    calls: wrapped.map(({ data }) => callOf(data)),
    take(outcomes) {
      for (const [at, item] of sent.entries()) {
        try {
          requirePassed(wrapped[at]!, outcomes[at]!)
        } catch (error) {
          if (!isReverted(error)) throw error
          refusals.set(item, error)
        }
      }
    },
  }
}

/**
 * Returns the calls of a leg that is simulated alone. A close needs the reclaims of the page before it that free its
 * position of an earlier close.
 */
function callsAlone(item: Item, sent: readonly Item[]): Plan['calls'] {
  const reclaims = sent.filter(({ leg }) => {
    if (leg instanceof ApiError || leg.kind !== 'change' || leg.plan.kind !== 'reclaim') return false
    return leg.order.record.request.legs.some(({ positionId }) => positionId === item.id)
  })
  return [...reclaims.flatMap(callsOf), ...callsOf(item)]
}

/** Returns one plan with the calls of all legs. Its prices are out of date as soon as those of its first close are. */
function joinedPlan(sent: readonly Item[]): Plan {
  const plans = sent.map((item) => planOf(item)!)
  const [first] = plans
  return {
    ...first!,
    calls: plans.flatMap(({ calls }) => calls),
    validity: plans.some(({ validity }) => validity === 'market') ? 'market' : 'resting',
    touches: plans.flatMap(({ touches = [] }) => touches),
  }
}

/** Returns the page up to the middle of its legs; the rest is left to the next page. */
function firstHalf({ items }: Page, sent: readonly Item[]): Page {
  const last = sent[Math.ceil(sent.length / 2) - 1]!
  return { items: items.slice(0, items.indexOf(last) + 1), hasMore: true }
}

/** Stores a page in one transaction: withdrawals first, whose room the closes can then use. */
async function keepPage(
  orders: ChainOrders,
  write: SignedWrite,
  turn: WriteTurn,
  { items, attempt, hasMore }: TriedPage,
): Promise<PreparedBatch> {
  const kept: Order[] = []
  const leftOut: LeftOut[] = []
  const warnings = new Map<string, Warning>()
  let place = 0
  let hasRoom = false
  for (const item of items) {
    const outcome = item.leg instanceof ApiError ? item.leg : await keepLeg(item.leg)
    if (outcome instanceof ApiError) leftOut.push({ id: item.id, code: outcome.code, message: outcome.message })
    else kept.push(outcome)
    for (const warning of planOf(item)?.warnings ?? []) warnings.set(warning.message, warning)
  }
  const transaction = attempt === undefined ? null : transactionOf(orders.chain, attempt)
  const next = hasMore ? items.at(-1)!.cursor : null
  return { orders: kept, leftOut, transaction, next, ...warningsOf({ warnings: [...warnings.values()] }) }

  async function keepLeg(leg: Leg): Promise<Order | ApiError> {
    if (leg.kind === 'withdraw') return withdrawOrSay(write, turn, leg.order)
    if (attempt === undefined) throw new Error('a page with calls has no transaction')
    const own = { ...attempt, kind: leg.plan.kind }
    if (leg.kind === 'change') {
      const current = await readOwnOrder(turn.sql, write, leg.order.record.id, turn.clock)
      return (await keepChange(orders, write, turn, { ...leg, current, attempt: own, place: place++ })).order
    }
    const { sql, agent, refolds } = turn
    if (!hasRoom) {
      const nowMs = attempt.createdAtMs
      const use = await readUse(sql, agent, nowMs)
      requireRoom(await requireSpend(sql, agent, Usd.zero, { nowMs, refolds, use }), orders.settings.maxPreparedOrders)
      hasRoom = true
    }
    const tried = { plan: leg.plan, attempt: own }
    const made = await storeOrder(sql, orders, { ...write, agent }, tried, {
      refolds,
      renewed: undefined,
      place: place++,
    })
    return orderAnswer(made.record, made.state)
  }
}

/** Withdraws a prepared order. Returns the refusal when it was sent, or lapsed, a moment ago. */
async function withdrawOrSay(write: SignedWrite, turn: WriteTurn, order: OrderAtClock): Promise<Order | ApiError> {
  try {
    return (await withdraw(turn, order, await readOwnOrder(turn.sql, write, order.record.id, turn.clock))).order
  } catch (error) {
    if (error instanceof ApiError && error.code === 'ORDER_NOT_MODIFIABLE') return error
    throw error
  }
}
