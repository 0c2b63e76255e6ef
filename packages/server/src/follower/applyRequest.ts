import type { OrderId } from '@bezel/protocol'
import type { EventOf } from '../chain/events/index.ts'
import type { PlacedEvent } from '../chain/chainBlock.ts'
import { creationOfRequest, creationOfRestingOrder, type Creation } from '../chain/creation.ts'
import { foreignOrder, openRequest, requestOnPosition } from './foreignOrders.ts'
import { chargeOf, matchCreation } from './matchCreation.ts'
import type { TransactionScope } from './transactionScope.ts'

/** A request that waits for the oracle: of an order of ours, or one made elsewhere. */
export async function applyRequest(
  tx: TransactionScope,
  event: EventOf<'PendingOrderStored'> & PlacedEvent,
): Promise<void> {
  const creation = creationOfRequest(event)
  if (creation === undefined) return
  const { pendingOrder } = event.args
  const originKey = tx.nextOriginKey()
  const match = await matchCreation(tx, creation)
  const orderId = match?.orderId ?? (await madeElsewhere(tx, originKey, pendingOrder, creation))
  if (orderId === undefined) return
  const { index: pendingIndex, trade } = pendingOrder
  await tx.scope.addOrderEvent({
    trader: creation.trader,
    orderId,
    handle: `pending:${pendingIndex}`,
    event: {
      ...tx.placeOf(event.logIndex),
      attemptId: match?.attemptId ?? null,
      kind: 'requested',
      pendingIndex,
      tradeIndex: trade.index,
    },
  })
}

async function madeElsewhere(
  tx: TransactionScope,
  originKey: string,
  pendingOrder: EventOf<'PendingOrderStored'>['args']['pendingOrder'],
  creation: Creation,
): Promise<OrderId | undefined> {
  const { scope } = tx
  const request =
    creation.kind === 'open'
      ? openRequest(scope, pendingOrder.trade, { type: 'market', slippageP: pendingOrder.maxSlippageP })
      : await requestOnPosition(scope, pendingOrder, creation)
  if (request === undefined) return undefined
  const charge = await chargeOf(tx, creation)
  return foreignOrder(scope, { originKey, trader: creation.trader, request, charge })
}

/** A limit or stop order that rests on the chain from here on. */
export async function applyPlaced(tx: TransactionScope, event: EventOf<'TradeStored'> & PlacedEvent): Promise<void> {
  const creation = creationOfRestingOrder(event)
  const { trader, type } = creation
  const { trade, tradeInfo } = event.args
  const slippageP = tradeInfo.maxSlippageP
  const originKey = tx.nextOriginKey()
  const match = await matchCreation(tx, creation)
  const placedElsewhere = async (): Promise<OrderId> => {
    const request = openRequest(tx.scope, trade, { type, slippageP })
    return foreignOrder(tx.scope, { originKey, trader, request, charge: await chargeOf(tx, creation) })
  }
  const orderId = match?.orderId ?? (await placedElsewhere())
  await tx.scope.addOrderEvent({
    trader,
    orderId,
    handle: `trade:${trade.index}`,
    event: {
      ...tx.placeOf(event.logIndex),
      attemptId: match?.attemptId ?? null,
      kind: 'placed',
      tradeIndex: trade.index,
      price: trade.openPrice,
      sl: trade.sl,
      tp: trade.tp,
      slippageP,
    },
  })
}
