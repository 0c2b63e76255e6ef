import { CancelReason, CollateralAmount, withScales, type OrderId, type OrderReason } from '@bezel/protocol'
import type { EventOf } from '../chain/events.ts'
import type { PlacedEvent } from '../chain/blocks.ts'
import { creationOfRequest, creationOfRestingOrder, type Creation } from '../chain/creation.ts'
import { foundRequestKey, foundTradeKey, type RestingTerms } from '../trading/orders/orderModel.ts'
import type { Trade } from '../trading/valuation/chainState.ts'
import { keepForeignOrder, openRequest, readRequestOnPosition } from './foreignOrders.ts'
import { addOpenRefused, addUpdateRefused } from './historyEntries.ts'
import { readCharge, matchCreation } from './matchCreation.ts'
import { type TransactionScope, addOrderEvent, findOrderByHandle } from './transactionScope.ts'

/** Records a request that waits for the oracle, for the order that it was prepared for or a new foreign order. */
export async function applyPendingOrderStored(
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
      ? openRequest(scope, withScales<Trade>(pendingOrder.trade), {
          type: 'market',
          slippageP: pendingOrder.maxSlippageP,
        })
      : await readRequestOnPosition(scope, pendingOrder, creation)
  if (request === undefined) return undefined
  const charge = await readCharge(tx, creation)
  const foundKey = foundRequestKey(creation.trader, pendingOrder.index)
  return keepForeignOrder(scope, { originKey, foundKey, trader: creation.trader, request, charge })
}

/** Records a limit or stop order that now rests on the chain. */
export async function applyPlaced(tx: TransactionScope, event: EventOf<'TradeStored'> & PlacedEvent): Promise<void> {
  const creation = creationOfRestingOrder(event)
  const { trader, type } = creation
  const { tradeInfo } = event.args
  const trade = withScales<Trade>(event.args.trade)
  const slippageP = tradeInfo.maxSlippageP
  const originKey = tx.nextOriginKey()
  const match = await matchCreation(tx, creation)
  const placedElsewhere = async (): Promise<OrderId> => {
    const request = openRequest(tx.scope, trade, { type, slippageP })
    const foundKey = foundTradeKey(trader, trade.index)
    return keepForeignOrder(tx.scope, { originKey, foundKey, trader, request, charge: await readCharge(tx, creation) })
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
      collateralAmount: trade.collateralAmount,
      price: trade.openPrice,
      sl: trade.sl,
      tp: trade.tp,
      slippageP,
    },
  })
}

// The next three: changes that a trader makes to an order on the chain.

export async function applyOpenOrderDetailsUpdated(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'OpenOrderDetailsUpdated'> & PlacedEvent,
): Promise<void> {
  const { user: trader, index, openPrice: price, tp, sl, maxSlippageP: slippageP } = args
  const orderId = await findOrderByHandle(tx, trader, `trade:${index}`)
  if (orderId === undefined) return
  const terms = withScales<RestingTerms>({ price, sl, tp, slippageP })
  const body = { kind: 'updated', ...terms } as const
  await addOrderEvent(tx, { trader, orderId, logIndex, body, isByTrader: true })
}

export async function applyOpenLimitCanceled(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'OpenLimitCanceled'> & PlacedEvent,
): Promise<void> {
  const { trader, index } = args
  const orderId = await findOrderByHandle(tx, trader, `trade:${index}`)
  if (orderId === undefined) return
  await addOrderEvent(tx, { trader, orderId, logIndex, body: { kind: 'canceled' }, isByTrader: true })
}

export async function applyChainlinkCallbackTimeout(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'ChainlinkCallbackTimeout'> & PlacedEvent,
): Promise<void> {
  const { user: trader, index: pendingIndex } = args.pendingOrderId
  const orderId = await findOrderByHandle(tx, trader, `pending:${pendingIndex}`)
  if (orderId === undefined) return
  await addOrderEvent(tx, { trader, orderId, logIndex, body: { kind: 'reclaimed', pendingIndex }, isByTrader: true })
}

/** Records that a market open was refused; `at` is the index of the event in its transaction. */
export async function applyMarketOpenCanceled(
  tx: TransactionScope,
  event: EventOf<'MarketOpenCanceled'> & PlacedEvent,
  at: number,
): Promise<void> {
  const { user, index } = event.args.orderId
  const orderId = await findOrderByHandle(tx, user, `pending:${index}`)
  if (orderId === undefined) return
  await addOpenRefused(tx, event, at, orderId)
  await applyRefused(tx, event)
}

export async function applyMarketCloseCanceled(
  tx: TransactionScope,
  event: EventOf<'MarketCloseCanceled'> & PlacedEvent,
): Promise<void> {
  const { trader, index } = event.args
  const returned = CollateralAmount.zero
  await addUpdateRefused(tx, { trader, tradeIndex: Number(index), logIndex: event.logIndex, returned })
  await applyRefused(tx, event)
}

/** Records that a request was refused when the oracle answered. */
export async function applyRefused(
  tx: TransactionScope,
  {
    args,
    logIndex,
  }: EventOf<
    'MarketOpenCanceled' | 'MarketCloseCanceled' | 'PositionSizeIncreaseExecuted' | 'PositionSizeDecreaseExecuted'
  > &
    PlacedEvent,
): Promise<void> {
  const { user: trader, index: pendingIndex } = args.orderId
  const orderId = await findOrderByHandle(tx, trader, `pending:${pendingIndex}`)
  if (orderId === undefined) return
  const body = { kind: 'refused', pendingIndex, reason: refusalReason(args.cancelReason) } as const
  await addOrderEvent(tx, { trader, orderId, logIndex, body, isByTrader: false })
}

const REASONS: ReadonlyMap<number, OrderReason> = new Map(
  Object.entries(CancelReason).map(([name, reason]) => [
    reason,
    reason === CancelReason.COUNTER_TRADE_CANCELED ? 'OTHER' : (name as OrderReason),
  ]),
)

/** Returns the reason why the Diamond refused; `OTHER` for a reason without a name in the interface. */
export function refusalReason(cancelReason: number): OrderReason {
  return REASONS.get(cancelReason) ?? 'OTHER'
}
