import type { LivePosition } from '../trading/positions/livePosition.ts'
import { ApiError, type ClosePositionRequest, type OrderId, type PreparedOrder } from '@bezel/protocol'
import { OFF_CHAIN } from '../journal/accountLog.ts'
import { orderAnswer } from '../trading/orders/orderAnswer.ts'
import { planClosePosition } from '../trading/plan/planClosePosition.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { beforeNode } from './delegation.ts'
import { makeOrder } from './makeOrder.ts'
import { prepareAttempt } from './prepareAttempt.ts'
import { startRefolds } from '../journal/refolds.ts'
import { claimWrite, type SignedWrite } from './signedWrite.ts'
import { transactionOf } from './transactionOf.ts'

/** Prepares a close at market: an order of its own. */
export async function closePosition(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: ClosePositionRequest,
): Promise<PreparedOrder> {
  const plan = await beforeNode(orders, write, () => {
    const made = planClosePosition(ownPosition(orders, write, id), body, orders.trading())
    requireScope(write.agent.scope, made.action)
    return made
  })
  const attempt = await prepareAttempt(orders, write, plan)
  const made = await orders.accountLog.transaction(OFF_CHAIN, async (sql, journal) => {
    const clock = orders.clock()
    const refolds = startRefolds(sql, clock, journal)
    const agent = await claimWrite(sql, orders, write, clock.nowMs)
    return makeOrder(sql, orders, { ...write, agent }, { plan, attempt }, { refolds, renewed: undefined })
  })
  return { order: orderAnswer(made.record, made.state), transaction: transactionOf(orders.chain, attempt) }
}

/** Throws `POSITION_NOT_FOUND`, also for a position of somebody else. */
export function ownPosition(
  { positions }: Pick<ChainOrders, 'positions'>,
  { agent }: SignedWrite,
  id: OrderId | undefined,
): LivePosition {
  const position = id === undefined ? undefined : positions.find(id)
  if (position !== undefined && position.record.trader === agent.trader) return position
  throw new ApiError('POSITION_NOT_FOUND', 'This account has no such open position on this chain.')
}
