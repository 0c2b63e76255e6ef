import {
  ApiError,
  DAY_MS,
  FeeMultiplier,
  Leverage,
  Usd,
  type Address,
  type ClosePositionRequest,
  type CreateOrderRequest,
  type OrderId,
  type OrderPreview,
  type PositionPreview,
  type Simulation,
  type Spend,
  type UpdatePositionRequest,
} from '@bezel/protocol'
import type { TradedPair } from '../accounts/positions/traderTerms.ts'
import type { Holdings } from '../accounts/readHoldings.ts'
import { simulationReverted, type HeldTokens } from '../chain/prepareTransaction.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { marketOfPair } from '../trading/plan/listed.ts'
import { normalizeOrder } from '../trading/plan/normalizeOrder.ts'
import type { OrderPlan, Plan, TradingContext } from '../trading/plan/plan.ts'
import { planClosePosition } from '../trading/plan/planClosePosition.ts'
import { expectedPrice } from '../trading/plan/planCreateOrder.ts'
import { invalidStop } from '../trading/plan/stops.ts'
import { previewClosing } from '../trading/preview/previewClosing.ts'
import type { AccountFields } from '../trading/preview/previewed.ts'
import { previewOpening } from '../trading/preview/previewOpening.ts'
import { previewUpdate } from '../trading/preview/previewUpdate.ts'
import { utcDayOf } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { ownPosition } from './closePosition.ts'
import { planSized } from './createOrder.ts'
import { heldIn, missingDelegation, missingScope, missingTokens } from './missing.ts'
import { demandOf, prepareAttempt } from './prepareAttempt.ts'
import { prepareSized, type SizedPlan } from './prepareSized.ts'
import type { TransactionAuthor } from './signedWrite.ts'
import { readStandingSpend } from './spendCap.ts'
import { planUpdates } from './updatePosition.ts'

// Previews of writes. Each makes the plan of the write itself, and quotes what that plan asks the Diamond for. Nothing
// is stored. A node is asked only by a simulation, and once for what was never read of the trader.

/** Dependencies of the previews of one chain. */
export interface ChainPreviews {
  readonly orders: ChainOrders
  /** Returns what is known of an account: its tokens, its fee tier and its delegate. */
  readonly holdings: (trader: Address) => Holdings | Promise<Holdings>
  /** Makes sure that the trader's own terms in a pair are known. */
  readonly learnTerms: (pair: TradedPair) => Promise<void>
  /** Returns the address that must be the trader's delegate for an agent: itself, or the relayer that sends for it. */
  readonly delegateFor: (agent: AgentRecord) => Address
}

/** The question of a preview. */
export interface PreviewQuestion {
  readonly trader: Address
  /** The agent that would send the request; `null` when none is named, so that nothing is said about its rights. */
  readonly agent: AgentRecord | null
  /** True to simulate the transaction as well, in one round trip. */
  readonly isSimulated: boolean
}

/** Previews an order. Throws what `createOrder` throws, except for what the account or the agent's scope lacks. */
export async function previewOrder(
  previews: ChainPreviews,
  question: PreviewQuestion,
  body: CreateOrderRequest,
): Promise<OrderPreview> {
  const { orders } = previews
  const request = normalizeOrder(body, orders.trading())
  await previews.learnTerms({ trader: question.trader, pairIndex: request.pairIndex })
  const sized = await planSized(orders, question, request, body.collateral)
  refuseInvalidStops(sized)
  return orderPreview(previews, question, await trySized(orders, authorOf(previews, question), sized, question))
}

/**
 * Throws what the contracts tell the write about a stop on the wrong side of the order's own price, so that no preview
 * goes on to the numbers of an order that nobody can place.
 */
function refuseInvalidStops({ plan, context }: SizedPlan<OrderPlan>): void {
  const { request, calls } = plan
  if (request.reduceOnly) return
  const market = marketOfPair(context.chain, request.pairIndex)
  const errorName = invalidStop({ ...request, price: expectedPrice(request, market, context) })
  if (errorName !== undefined) throw simulationReverted({ inner: calls[0]! }, { errorName, text: null })
}

/** Previews the close of a position. Throws what `closePosition` throws, except for what the scope lacks. */
export async function previewClose(
  previews: ChainPreviews,
  question: PreviewQuestion,
  id: OrderId | undefined,
  body: ClosePositionRequest,
): Promise<OrderPreview> {
  const { orders } = previews
  const author = authorOf(previews, question)
  const context = orders.trading()
  const sized = fixedPlan(planClosePosition(ownPosition(orders, author, id), body, context), context)
  return orderPreview(previews, question, await trySized(orders, author, sized, question))
}

/** Previews a change of a position. Throws what `updatePosition` throws, except for what account and scope lack. */
export async function previewPosition(
  previews: ChainPreviews,
  question: PreviewQuestion,
  id: OrderId | undefined,
  body: UpdatePositionRequest,
): Promise<PositionPreview> {
  const { orders } = previews
  const author = authorOf(previews, question)
  const context = orders.trading()
  const [planned] = await planUpdates(orders, author, [{ id, body }], context)
  const { found, plan } = planned!
  const tried = await trySized(orders, author, fixedPlan(plan, context), question)
  const holdings = await previews.holdings(question.trader)
  const numbers = previewUpdate(found, plan, withTier(tried.context, holdings))
  return { ...numbers, ...(await accountFields(previews, question, holdings, tried)) }
}

async function orderPreview(
  previews: ChainPreviews,
  question: PreviewQuestion,
  tried: Tried<OrderPlan>,
): Promise<OrderPreview> {
  const { trader } = question
  const holdings = await previews.holdings(trader)
  const context = withTier(tried.context, holdings)
  const { plan } = tried
  const numbers = plan.request.reduceOnly
    ? previewClosing(plan, trader, context)
    : previewOpening(plan, trader, context)
  return { ...numbers, ...(await accountFields(previews, question, holdings, tried)) }
}

/** Returns the inputs of a quote with the trader's fee tier, which the account tells, among its terms. */
function withTier(context: TradingContext, { feeTierMultiplier }: Holdings): TradingContext {
  if (feeTierMultiplier === null) return context
  const feeMultiplier = Number((FeeMultiplier.parseTruncated(feeTierMultiplier) * Leverage.one) / FeeMultiplier.one)
  return { ...context, termsOf: (trader, market) => ({ ...context.termsOf(trader, market), feeMultiplier }) }
}

/** Returns the author of the transaction: the address that would send it for the agent, or the trader itself. */
function authorOf({ delegateFor }: ChainPreviews, { trader, agent }: PreviewQuestion): TransactionAuthor {
  return { agent: { trader, agent: agent === null ? trader : delegateFor(agent) }, relay: null }
}

/** Returns a plan that no further fact changes. */
function fixedPlan<Planned extends Plan>(plan: Planned, context: TradingContext): SizedPlan<Planned> {
  return { plan, context, planAt: () => plan, sizedIn: null }
}

/** A plan with the inputs that it was made from and, where it was simulated, the outcome. */
interface Tried<Planned extends Plan> extends Pick<SizedPlan<Planned>, 'plan' | 'context'> {
  readonly simulation: Simulation | null
  /** Tokens of the trader, as the simulation read them; `undefined` without one. */
  readonly tokens: HeldTokens | undefined
}

/** Simulates a plan if the question asks for it: in the round trip of the write, which may make the plan again. */
async function trySized<Planned extends Plan>(
  orders: ChainOrders,
  author: TransactionAuthor,
  sized: SizedPlan<Planned>,
  { isSimulated }: PreviewQuestion,
): Promise<Tried<Planned>> {
  const { plan, context } = sized
  if (!isSimulated) return { plan, context, simulation: null, tokens: undefined }
  let tokens: HeldTokens | undefined
  const onTokens = (held: HeldTokens): void => void (tokens = held)
  try {
    const { attempt, ...made } = await prepareSized(orders, author, sized, (planned, alongside) =>
      prepareAttempt(orders, author, planned, { alongside, onTokens }),
    )
    return { ...made, simulation: { passed: true, gas: attempt.gas, errorName: null, message: null }, tokens }
  } catch (error) {
    return { plan, context, simulation: refusedSimulation(error), tokens }
  }
}

/** Returns the outcome of a simulation that was refused. Throws any other error. */
function refusedSimulation(error: unknown): Simulation {
  const isRefusal =
    error instanceof ApiError && (error.code === 'SIMULATION_REVERTED' || error.code === 'AGENT_NOT_DELEGATED')
  if (!isRefusal) throw error
  const { errorName } = error.details ?? {}
  const name = typeof errorName === 'string' ? errorName : null
  return { passed: false, gas: null, errorName: name, message: error.message }
}

/** Returns what a preview says about the account and the agent. */
async function accountFields(
  { orders, delegateFor }: ChainPreviews,
  { trader, agent }: PreviewQuestion,
  holdings: Holdings,
  { plan, context, simulation, tokens }: Tried<Plan>,
): Promise<Pick<OrderPreview, AccountFields>> {
  const { chain, delegates } = orders
  const nowMs = orders.now()
  const demand = demandOf(plan, context)
  const lacking = demand === null ? [] : missingTokens(chain, trader, demand, tokens ?? heldIn(holdings, demand))
  if (agent === null) return { missing: lacking, spend: null, simulation }
  const spentUsd = await readStandingSpend(orders.store.read, agent, nowMs)
  const delegate = delegates.known(trader) ?? holdings.delegate
  const rights = [
    ...missingDelegation(chain, agent, { delegate, required: delegateFor(agent) }),
    ...missingScope(agent, plan.action, { spentUsd, nowMs }),
  ]
  return { missing: [...rights, ...lacking], spend: spendOf(agent, spentUsd, plan.action.spendUsd, nowMs), simulation }
}

function spendOf({ agent, scope }: AgentRecord, spentUsd: Usd, spendUsd: Usd, nowMs: number): Spend {
  return {
    agent,
    spentUsd: Usd.format(spentUsd),
    afterUsd: Usd.format(Usd.of(spentUsd + spendUsd)),
    dailySpendCapUsd: scope.dailySpendCapUsd,
    resetsAt: (utcDayOf(nowMs) + 1) * DAY_MS,
  }
}
