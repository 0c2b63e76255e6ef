import type { LivePosition } from '../trading/positions/positionModel.ts'
import { Price, parseDecimal, type OrderId, type PreparedPosition, type UpdatePositionRequest } from '@bezel/protocol'
import { planUpdatePosition } from '../trading/plan/planUpdatePosition.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { ownPosition } from './closePosition.ts'
import { runWrite, type SignedWrite } from './signedWrite.ts'
import { prepareAttempt, transactionOf } from './prepareAttempt.ts'

/**
 * Prepares a change of a position. Creates no order, and nothing is reported: the chain's events show when it has
 * happened. So only the write's nonce is stored.
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
      const plan = planUpdatePosition(found, body, orders.trading())
      requireScope(write.agent.scope, plan.action)
      return { position: orders.positionAnswer(withTriggers(found, body)), plan }
    },
    ask: ({ plan }) => prepareAttempt(orders, write, plan),
    keep: async ({ sql, agent }, { position, plan }, attempt) => {
      requireScope(agent.scope, plan.action)
      await write.relay?.take(sql, attempt)
      return { position, transaction: transactionOf(orders.chain, attempt) }
    },
  })
}

/**
 * Returns the position with the new stop loss and take profit, which the transaction itself sets. A new leverage is
 * left out, because it takes effect only with the oracle's answer.
 */
function withTriggers({ record, state }: LivePosition, { sl, tp }: UpdatePositionRequest): LivePosition {
  const trade = { ...state.trade, sl: priceOr(sl, state.trade.sl), tp: priceOr(tp, state.trade.tp) }
  return { record, state: { ...state, trade } }
}

function priceOr(text: string | undefined, otherwise: Price): Price {
  const price = text === undefined ? undefined : parseDecimal(text)
  return (price === undefined ? undefined : Price.parse(price)) ?? otherwise
}
