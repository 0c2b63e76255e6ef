import type { LivePosition } from '../trading/positions/livePosition.ts'
import {
  parseDecimal,
  scaleDecimal,
  type OrderId,
  type PreparedPosition,
  type UpdatePositionRequest,
} from '@bezel/protocol'
import { OFF_CHAIN } from '../journal/accountLog.ts'
import { planUpdatePosition } from '../trading/plan/planUpdatePosition.ts'
import { requireScope } from '../trading/scope.ts'
import type { ChainOrders } from './chainOrders.ts'
import { ownPosition } from './closePosition.ts'
import { beforeNode } from './delegation.ts'
import { prepareAttempt } from './prepareAttempt.ts'
import { claimWrite, type SignedWrite } from './signedWrite.ts'
import { transactionOf } from './transactionOf.ts'

const PRICE_DECIMALS = 10

/**
 * Prepares a change of a position. No order comes of it and there is nothing to report: the chain's own events tell when it has happened,
 * so of the write only the nonce is kept.
 */
export async function updatePosition(
  orders: ChainOrders,
  write: SignedWrite,
  id: OrderId | undefined,
  body: UpdatePositionRequest,
): Promise<PreparedPosition> {
  const { position, plan } = await beforeNode(orders, write, () => {
    const found = ownPosition(orders, write, id)
    const made = planUpdatePosition(found, body, orders.trading())
    requireScope(write.agent.scope, made.action)
    return { position: orders.positionAnswer(withTriggers(found, body)), plan: made }
  })
  const attempt = await prepareAttempt(orders, write, plan)
  await orders.accountLog.transaction(OFF_CHAIN, async (sql) => {
    const agent = await claimWrite(sql, orders, write, orders.now())
    requireScope(agent.scope, plan.action)
    await write.relay?.take(sql, attempt)
  })
  return { position, transaction: transactionOf(orders.chain, attempt) }
}

/** As it will be, for what the transaction itself decides. A new leverage comes of the oracle's answer, so it is shown when it is there. */
function withTriggers({ record, state }: LivePosition, { sl, tp }: UpdatePositionRequest): LivePosition {
  const trade = { ...state.trade, sl: priceOr(sl, state.trade.sl), tp: priceOr(tp, state.trade.tp) }
  return { record, state: { ...state, trade } }
}

function priceOr(text: string | undefined, otherwise: bigint): bigint {
  const price = text === undefined ? undefined : parseDecimal(text)
  return (price === undefined ? undefined : scaleDecimal(price, PRICE_DECIMALS)) ?? otherwise
}
