import type { LivePosition } from '../trading/positions/positionModel.ts'
import type { OrderId, PreparedPosition, UpdatePositionRequest } from '@bezel/protocol'
import { warningsOf, type PositionPlan } from '../trading/plan/plan.ts'
import { reclaimFirst } from '../trading/plan/planCancelUpdate.ts'
import { planUpdatePosition } from '../trading/plan/planUpdatePosition.ts'
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
  return runWrite(orders, write, {
    plan: () => {
      const found = ownPosition(orders, write, id)
      const asked = planUpdatePosition(found, body, orders.trading())
      const plan = updateKindOf(body) === undefined ? asked : reclaimFirst(found, asked)
      requireScope(write.agent.scope, plan.action)
      return { position: orders.positionAnswer(withStops(found, plan)), plan }
    },
    ask: ({ plan }) => prepareAttempt(orders, write, plan),
    keep: async ({ sql, agent }, { position, plan }, attempt) => {
      requireScope(agent.scope, plan.action)
      const kind = updateKindOf(body)
      if (kind !== undefined) await keepPositionAttempts(sql, plan, attempt, kind)
      await write.relay?.take(sql, attempt)
      return { position, transaction: transactionOf(orders.chain, attempt), ...warningsOf(plan) }
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
