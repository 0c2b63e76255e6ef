import type { LivePosition } from '../trading/positions/positionModel.ts'
import type { OrderId, Position, PreparedPosition, UpdatePositionRequest } from '@bezel/protocol'
import { listLiveOrders } from '../store/orderStore.ts'
import type { OrderState } from '../trading/orders/orderModel.ts'
import { isTight, planDefaultSlippage, restoreSlippage } from '../trading/plan/closingSlippage.ts'
import { warningsOf, type PositionPlan, type TradingContext } from '../trading/plan/plan.ts'
import { reclaimFirst } from '../trading/plan/planCancelUpdate.ts'
import { joinPlans, planUpdatePosition } from '../trading/plan/planUpdatePosition.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { ownPosition } from './closePosition.ts'
import { runWrite, type SignedWrite, type TransactionAuthor } from './signedWrite.ts'
import { keepPositionAttempts, prepareAttempt, transactionOf } from './prepareAttempt.ts'

/**
 * Prepares a change of a position. Creates no order, and nothing is reported: the chain's events show when it has
 * happened. Of a change that waits for the oracle, only as much is stored as recognises its request.
 */
export async function updatePosition(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: UpdatePositionRequest,
): Promise<PreparedPosition> {
  const { positions, ...prepared } = await updatePositions(orders, write, [{ id, body }])
  return { position: positions[0]!, ...prepared }
}

/** The change of one position. */
export interface PositionToUpdate {
  readonly id: OrderId | undefined
  readonly body: UpdatePositionRequest
}

/** A transaction that changes positions, which are shown as they will be. */
interface PreparedPositions extends Omit<PreparedPosition, 'position'> {
  readonly positions: readonly Position[]
}

/**
 * Prepares changes of positions of one market and collateral, all of one kind, in one transaction: all of them happen
 * or none.
 */
export async function updatePositions(
  orders: ChainOrders,
  write: SignedWrite,
  changes: readonly PositionToUpdate[],
): Promise<PreparedPositions> {
  const kind = updateKindOf(changes[0]!.body)
  return prepareUpdates(orders, write, kind, () => planUpdates(orders, write, changes, orders.trading()))
}

/** Plans changes of a trader's positions, all of one kind. */
export async function planUpdates(
  orders: Pick<ChainOrders, 'positions' | 'store' | 'chain'>,
  author: Pick<TransactionAuthor, 'agent'>,
  changes: readonly PositionToUpdate[],
  context: TradingContext,
): Promise<readonly PlannedUpdate[]> {
  const kind = updateKindOf(changes[0]!.body)
  const asked = changes.map(({ id, body }) => {
    const found = ownPosition(orders, author, id)
    return { found, plan: planUpdatePosition(found, body, context) }
  })
  const closing = await listClosing(orders, asked.map(({ found }) => found).filter(isTight))
  return asked.map(({ found, plan: own }) => ({
    found,
    plan: kind === undefined ? restoreSlippage(found, own, closing.has(found.record.id)) : reclaimFirst(found, own),
  }))
}

/** Prepares the transaction that puts the closing slippage of a position back to the default and changes no stop. */
export async function restoreClosingSlippage(orders: ChainOrders, write: SignedWrite, id: OrderId): Promise<void> {
  await prepareUpdates(orders, write, undefined, async () => {
    const found = ownPosition(orders, write, id)
    return [{ found, plan: planDefaultSlippage(found, orders.trading()) }]
  })
}

/** A position and the plan that changes it. */
export interface PlannedUpdate {
  readonly found: LivePosition
  readonly plan: PositionPlan
}

/** Prepares planned changes of positions in one transaction. `kind` is that of changes that wait for the oracle. */
function prepareUpdates(
  orders: ChainOrders,
  write: SignedWrite,
  kind: 'leverage' | 'collateral' | undefined,
  planAll: () => Promise<readonly PlannedUpdate[]>,
): Promise<PreparedPositions> {
  return runWrite(orders, write, {
    plan: async () => {
      const planned = await planAll()
      const plan = joinPlans(planned.map((one) => one.plan))
      requireScope(write.agent.scope, plan.action)
      return { positions: planned.map((one) => orders.positionAnswer(withStops(one.found, one.plan))), plan }
    },
    ask: ({ plan }) => prepareAttempt(orders, write, plan),
    keep: async ({ sql, agent }, { positions, plan }, attempt) => {
      requireScope(agent.scope, plan.action)
      if (kind !== undefined) await keepPositionAttempts(sql, plan, attempt, kind)
      const positionIds = positions.map(({ id }) => id as OrderId)
      await write.relay?.take(sql, attempt, kind === undefined ? { kind: 'stops', positionIds } : { kind: 'other' })
      return { positions, transaction: transactionOf(orders.chain, attempt), ...warningsOf(plan) }
    },
  })
}

/**
 * Lists those of one trader's positions of which a close is on its way or waits for the oracle. One that timed out
 * waits until it is reclaimed, because a late answer executes it.
 */
export async function listClosing(
  { store, chain }: Pick<ChainOrders, 'store' | 'chain'>,
  positions: readonly LivePosition[],
): Promise<ReadonlySet<OrderId>> {
  if (positions[0] === undefined) return new Set()
  const live = await listLiveOrders(store.read, chain.slug, positions[0].record.trader)
  const closing = live.filter(({ state }) => isSent(state))
  return new Set(closing.flatMap(({ record }) => record.request.legs.map(({ positionId }) => positionId)))
}

function isSent(state: OrderState | undefined): boolean {
  if (state?.status === 'prepared') return state.txHash !== null
  return state?.status === 'pending' || state?.status === 'timed_out'
}

/** Returns the kind of a change that waits for the oracle; `undefined` for stops, which the transaction itself sets. */
function updateKindOf({ leverage, collateral }: UpdatePositionRequest): 'leverage' | 'collateral' | undefined {
  if (leverage !== undefined) return 'leverage'
  return collateral === undefined ? undefined : 'collateral'
}

/**
 * Returns the position with the stops that the chain will keep, which the transaction itself sets. A new leverage is
 * left out, because it takes effect only with the oracle's answer.
 */
function withStops(position: LivePosition, { changes }: PositionPlan): LivePosition {
  const { state } = position
  return { ...position, state: { ...state, trade: { ...state.trade, ...changes } } }
}
