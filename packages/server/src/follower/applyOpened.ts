import { PendingOrderType, type OrderId } from '@bezel/protocol'
import type { EventOf } from '../chain/events/index.ts'
import { orderByHandle } from './addByHandle.ts'
import type { PlacedEvent } from '../chain/chainBlock.ts'
import { foreignOrder, openRequest } from './foreignOrders.ts'
import { openedBody } from './positionEvents.ts'
import { traderOf, type TransactionScope } from './transactionScope.ts'

/** A new position. Which order opened it is told only later in the same transaction, when the Diamond reports the execution. */
export async function applyOpened(
  tx: TransactionScope,
  event: EventOf<'TradeStored'> & PlacedEvent,
  at: number,
): Promise<void> {
  const trader = traderOf(event.args.user)
  const originOrderId = await originOf(tx, event, at)
  const positionId = await tx.scope.openPosition(trader, event.args.index, originOrderId)
  await tx.scope.addPositionEvent(positionId, { ...tx.placeOf(event.logIndex), ...openedBody(event) })
}

/** An order that was requested before the follower began is not known: then one is made up from the position. */
async function originOf(tx: TransactionScope, { args }: EventOf<'TradeStored'>, at: number): Promise<OrderId> {
  const known = await executedOrder(tx, args, at)
  if (known !== undefined) return known
  return foreignOrder(tx.scope, {
    originKey: tx.nextOriginKey(),
    trader: traderOf(args.user),
    request: openRequest(tx.scope, args.trade, { type: 'market', slippageP: args.tradeInfo.maxSlippageP }),
  })
}

async function executedOrder(
  tx: TransactionScope,
  { user, index }: EventOf<'TradeStored'>['args'],
  at: number,
): Promise<OrderId | undefined> {
  for (const { name, args } of tx.transaction.events.slice(at)) {
    if (name === 'MarketExecuted' && args.open && args.user === user && args.index === index) {
      return orderByHandle(tx, args.orderId.user, `pending:${args.orderId.index}`)
    }
    if (name === 'LimitExecuted' && isOpening(args.orderType) && args.user === user && args.index === index) {
      return orderByHandle(tx, user, `trade:${args.limitIndex}`)
    }
  }
  return undefined
}

/** Whether a trigger opens a position; the others close one. */
export function isOpening(orderType: number): boolean {
  return orderType === PendingOrderType.LIMIT_OPEN || orderType === PendingOrderType.STOP_OPEN
}
