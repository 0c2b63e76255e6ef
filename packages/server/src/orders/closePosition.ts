import type { LivePosition } from '../trading/positions/positionModel.ts'
import { ApiError, type ClosePositionRequest, type OrderId, type PreparedOrder } from '@bezel/protocol'
import { orderAnswer } from '../trading/orders/orderModel.ts'
import { warningsOf } from '../trading/plan/plan.ts'
import { planClosePosition } from '../trading/plan/planClosePosition.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { runWrite, type SignedWrite, type TransactionAuthor } from './signedWrite.ts'
import { makeOrder, readRoom } from './makeOrder.ts'
import { prepareAttempt, transactionOf } from './prepareAttempt.ts'

/** Prepares a market close of a position, as an order of its own. */
export async function closePosition(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: ClosePositionRequest,
): Promise<PreparedOrder> {
  return runWrite(orders, write, {
    plan: () => {
      const plan = planClosePosition(ownPosition(orders, write, id), body, orders.trading())
      requireScope(write.agent.scope, plan.action)
      return plan
    },
    ask: (plan) => prepareAttempt(orders, write, plan),
    read: (sql, _clock, _plan, { createdAtMs }) => readRoom(sql, write.agent, { nowMs: createdAtMs, isNew: true }),
    keep: async ({ sql, agent, refolds }, plan, attempt, room) => {
      const tried = { plan, attempt }
      const made = await makeOrder(sql, orders, { ...write, agent }, tried, { refolds, renewed: undefined, room })
      return {
        order: orderAnswer(made.record, made.state),
        transaction: transactionOf(orders.chain, attempt),
        ...warningsOf(plan),
      }
    },
  })
}

/** Returns the trader's own open position. Throws `POSITION_NOT_FOUND`, also for a position of another trader. */
export function ownPosition(
  { positions }: Pick<ChainOrders, 'positions'>,
  { agent }: Pick<TransactionAuthor, 'agent'>,
  id: OrderId | undefined,
): LivePosition {
  const position = id === undefined ? undefined : positions.find(id)
  if (position !== undefined && position.record.trader === agent.trader) return position
  throw positionNotFound()
}

export function positionNotFound(): ApiError {
  return new ApiError('POSITION_NOT_FOUND', 'This account has no such open position on this chain.')
}
