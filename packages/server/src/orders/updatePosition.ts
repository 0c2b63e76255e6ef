import type { LivePosition } from '../trading/positions/positionModel.ts'
import type { OrderId, Position, PreparedPosition, UpdatePositionRequest } from '@bezel/protocol'
import { warningsOf, type PositionPlan } from '../trading/plan/plan.ts'
import { reclaimFirst } from '../trading/plan/planCancelUpdate.ts'
import { joinPlans, planUpdatePosition } from '../trading/plan/planUpdatePosition.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { ownPosition } from './closePosition.ts'
import { runWrite, type SignedWrite } from './signedWrite.ts'
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
  return runWrite(orders, write, {
    plan: () => {
      const context = orders.trading()
      const planned = changes.map(({ id, body }) => {
        const found = ownPosition(orders, write, id)
        const asked = planUpdatePosition(found, body, context)
        return { found, plan: kind === undefined ? asked : reclaimFirst(found, asked) }
      })
      const plan = joinPlans(planned.map((one) => one.plan))
      requireScope(write.agent.scope, plan.action)
      return { positions: planned.map((one) => orders.positionAnswer(withStops(one.found, one.plan))), plan }
    },
    ask: ({ plan }) => prepareAttempt(orders, write, plan),
    keep: async ({ sql, agent }, { positions, plan }, attempt) => {
      requireScope(agent.scope, plan.action)
      if (kind !== undefined) await keepPositionAttempts(sql, plan, attempt, kind)
      await write.relay?.take(sql, attempt)
      return { positions, transaction: transactionOf(orders.chain, attempt), ...warningsOf(plan) }
    },
  })
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
