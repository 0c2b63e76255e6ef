import { PendingOrderType, type FillAction, type OrderId, type OrderType } from '@bezel/protocol'
import { HUNDRED_PERCENT } from '../trading/valuation/scales.ts'
import type { EventOf } from '../chain/events/index.ts'
import { addOrderEvent, orderByHandle } from './addByHandle.ts'
import { tokensDecimal, triggerDecimal } from '../trading/amounts.ts'
import { isOpening } from './applyOpened.ts'
import type { PlacedEvent } from '../chain/chainBlock.ts'
import { sideOf } from '../chain/creation.ts'
import { addFill, fillOf, type Execution } from './execution.ts'
import { executionFee } from './executionFee.ts'
import { closeRequest, foreignOrder } from './foreignOrders.ts'
import { traderOf, type TransactionScope } from './transactionScope.ts'

type MarketExecuted = EventOf<'MarketExecuted'> & PlacedEvent
type LimitExecuted = EventOf<'LimitExecuted'> & PlacedEvent

/** A market open or close is done. */
export async function applyMarketExecuted(tx: TransactionScope, event: MarketExecuted, at: number): Promise<void> {
  const { open, orderId: request } = event.args
  const orderType = open ? PendingOrderType.MARKET_OPEN : PendingOrderType.MARKET_CLOSE
  const action = open ? 'TradeOpenedMarket' : 'TradeClosedMarket'
  const execution = await executionOf(tx, event, { action, feeCollateral: feeAt(tx, event, at, orderType) })
  await addFill(tx, execution)
  const orderId = await orderByHandle(tx, request.user, `pending:${request.index}`)
  if (orderId !== undefined) await addExecuted(tx, orderId, execution, request.index)
}

/** A trigger is done: a resting order became a position, or a position was closed by TP, SL or liquidation. */
export async function applyLimitExecuted(tx: TransactionScope, event: LimitExecuted, at: number): Promise<void> {
  const { orderType, user, limitIndex } = event.args
  const feeCollateral = feeAt(tx, event, at, orderType)
  if (isOpening(orderType)) {
    const execution = await executionOf(tx, event, { action: 'TradeOpenedLimit', feeCollateral })
    await addFill(tx, execution)
    const orderId = await orderByHandle(tx, user, `trade:${limitIndex}`)
    if (orderId !== undefined) await addExecuted(tx, orderId, execution, null)
    return
  }
  const closing = CLOSINGS.get(orderType)
  if (closing === undefined) return
  const execution = await executionOf(tx, event, { action: closing.action, feeCollateral })
  await addFill(tx, execution)
  const orderId = await keeperOrder(tx, event, closing, execution.positionId)
  if (orderId !== undefined) await addExecuted(tx, orderId, execution, null)
}

/** What bots close positions for. */
interface KeeperClosing {
  readonly action: FillAction
  /** Of the origin key. */
  readonly key: 'tp' | 'sl' | 'liq'
  readonly type: OrderType
  readonly priceOf: (args: LimitExecuted['args']) => bigint
}

const CLOSINGS: ReadonlyMap<number, KeeperClosing> = new Map([
  [
    PendingOrderType.TP_CLOSE,
    { action: 'TradeClosedTP', key: 'tp', type: 'limit', priceOf: ({ t }: LimitExecuted['args']) => t.tp },
  ],
  [
    PendingOrderType.SL_CLOSE,
    { action: 'TradeClosedSL', key: 'sl', type: 'stop', priceOf: ({ t }: LimitExecuted['args']) => t.sl },
  ],
  [
    PendingOrderType.LIQ_CLOSE,
    { action: 'TradeClosedLIQ', key: 'liq', type: 'stop', priceOf: ({ liqPrice }: LimitExecuted['args']) => liqPrice },
  ],
])

/** Nobody ordered it, so the close gets an order of its own: histories then miss nothing. */
async function keeperOrder(
  { scope }: TransactionScope,
  { args }: LimitExecuted,
  { key, type, priceOf }: KeeperClosing,
  positionId: OrderId | null,
): Promise<OrderId | undefined> {
  const position = positionId === null ? undefined : await scope.stateOf(positionId)
  if (positionId === null || position === undefined) return undefined
  const close = closeRequest(scope, position, { positionId, part: args.t })
  const request = { ...close, type, price: triggerDecimal(priceOf(args)) }
  return foreignOrder(scope, { originKey: `${key}:${positionId}`, trader: traderOf(args.user), request })
}

function feeAt(
  { transaction }: TransactionScope,
  { args }: MarketExecuted | LimitExecuted,
  at: number,
  orderType: number,
): bigint {
  return executionFee(transaction.events, at, { trader: args.user, orderType })
}

async function executionOf(
  { scope }: TransactionScope,
  { args, logIndex }: MarketExecuted | LimitExecuted,
  of: Pick<Execution, 'action' | 'feeCollateral'>,
): Promise<Execution> {
  const { t, user, index, percentProfit } = args
  const positionId = await scope.positionOf(traderOf(user), index)
  const position = positionId === undefined ? undefined : await scope.stateOf(positionId)
  const collateralPriceUsd = position === undefined ? args.collateralPriceUsd : BigInt(position.info.collateralPriceUsd)
  return {
    ...of,
    trader: user,
    pairIndex: t.pairIndex,
    collateralIndex: t.collateralIndex,
    side: sideOf(t.long),
    price: args.marketPrice,
    size: tokensDecimal(t.positionSizeToken, collateralPriceUsd),
    collateralAmount: t.collateralAmount,
    leverage: t.leverage,
    pnlCollateral: (t.collateralAmount * percentProfit) / HUNDRED_PERCENT,
    positionId: positionId ?? null,
    logIndex,
  }
}

export async function addExecuted(
  tx: TransactionScope,
  orderId: OrderId,
  execution: Execution,
  pendingIndex: number | null,
): Promise<void> {
  await addOrderEvent(tx, {
    trader: execution.trader,
    orderId,
    logIndex: execution.logIndex,
    body: { kind: 'executed', pendingIndex, fill: fillOf(tx, execution) },
    isByTrader: false,
  })
}
