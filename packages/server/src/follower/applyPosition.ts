import { CollateralAmount, PendingOrderType, Price, TokenSize, withScales, type OrderId } from '@bezel/protocol'
import type { EventOf } from '../chain/events.ts'
import { findOrderByHandle, traderOf, type TransactionScope } from './transactionScope.ts'
import type { PlacedEvent } from '../chain/blocks.ts'
import { keepForeignOrder, openRequest } from './foreignOrders.ts'
import type { LiquidationParams, Trade, TradeInfo } from '../trading/valuation/chainState.ts'
import type { PositionState, PositionEvent } from '../trading/positions/positionModel.ts'
import type { ChainPlace } from '../trading/orders/orderModel.ts'

type Body<Event> = Event extends unknown ? Omit<Event, keyof ChainPlace> : never
/** A position event without its place on the chain. */
type PositionEventBody = Body<PositionEvent>

/**
 * Records a new position. The order that opened it is known only from the execution event later in the same
 * transaction.
 */
export async function applyOpened(
  tx: TransactionScope,
  event: EventOf<'TradeStored'> & PlacedEvent,
  at: number,
): Promise<void> {
  const trader = traderOf(event.args.user)
  const originOrderId = await findOrigin(tx, event, at)
  const positionId = await tx.scope.openPosition(trader, event.args.index, originOrderId)
  await tx.scope.addPositionEvent(positionId, { ...tx.placeOf(event.logIndex), ...openedBody(event) })
}

/**
 * Finds the order that opened a position. An order requested before the follower's first block is not known; then a
 * market order is reconstructed from the position.
 */
async function findOrigin(tx: TransactionScope, { args }: EventOf<'TradeStored'>, at: number): Promise<OrderId> {
  const known = await findExecutedOrder(tx, args, at)
  if (known !== undefined) return known
  return keepForeignOrder(tx.scope, {
    originKey: tx.nextOriginKey(),
    trader: traderOf(args.user),
    request: openRequest(tx.scope, withScales<Trade>(args.trade), {
      type: 'market',
      slippageP: args.tradeInfo.maxSlippageP,
    }),
  })
}

async function findExecutedOrder(
  tx: TransactionScope,
  { user, index }: EventOf<'TradeStored'>['args'],
  at: number,
): Promise<OrderId | undefined> {
  for (const { name, args } of tx.transaction.events.slice(at)) {
    if (name === 'MarketExecuted' && args.open && args.user === user && args.index === index) {
      return findOrderByHandle(tx, args.orderId.user, `pending:${args.orderId.index}`)
    }
    if (name === 'LimitExecuted' && isOpening(args.orderType) && args.user === user && args.index === index) {
      return findOrderByHandle(tx, user, `trade:${args.limitIndex}`)
    }
  }
  return undefined
}

/** Returns true when a trigger of this order type opens a position; all other triggers close one. */
export function isOpening(orderType: number): boolean {
  return orderType === PendingOrderType.LIMIT_OPEN || orderType === PendingOrderType.STOP_OPEN
}

export function openedBody({ args }: EventOf<'TradeStored'>): PositionEventBody {
  return {
    kind: 'opened',
    trade: tradeOf(args.trade),
    info: infoOf(args.tradeInfo),
    liquidationParams: args.liquidationParams,
    maxClosingSlippageP: args.tradeInfo.maxSlippageP,
  }
}

/** Drops the `__placeholder` field, which nothing reads, so that it is not stored. */
function tradeOf({ __placeholder: _, ...trade }: EventOf<'TradeStored'>['args']['trade']): Trade {
  return withScales<Trade>(trade)
}

function infoOf(info: EventOf<'TradeStored'>['args']['tradeInfo']): TradeInfo {
  const { collateralPriceUsd, contractsVersion, lastPosIncreaseBlock } = info
  return { collateralPriceUsd, contractsVersion, lastPosIncreaseBlock }
}

/** Records the new size, leverage and collateral of a position. The event with the cause and the price follows it. */
export async function applyTradePositionUpdated(
  tx: TransactionScope,
  event: EventOf<'TradePositionUpdated'> & PlacedEvent,
): Promise<void> {
  const { user, index, pendingOrderType } = event.args
  const positionId = await tx.scope.findPosition(traderOf(user), index)
  const before = positionId === undefined ? undefined : await tx.scope.readPositionState(positionId)
  if (positionId === undefined || before === undefined) return
  tx.tokensBefore.set(positionId, before.trade.positionSizeToken)
  const renewed = pendingOrderType === PendingOrderType.MARKET_PARTIAL_OPEN ? renewedParams(tx, before) : null
  await tx.scope.addPositionEvent(positionId, { ...tx.placeOf(event.logIndex), ...resizedBody(event, renewed) })
}

/**
 * Returns the liquidation parameters after a size increase, which adopts the current ones of the pair's group. No event
 * carries them, so the values last read from the chain are used; only governance changes them.
 */
function renewedParams({ scope }: TransactionScope, { trade, liquidationParams }: PositionState): LiquidationParams {
  return scope.markets.pairs.get(trade.pairIndex)?.listing.liquidationParams ?? liquidationParams
}

/**
 * Returns the stored form of the change. `renewed` holds the liquidation parameters that an increase adopts; `null` for
 * every other change.
 */
function resizedBody({ args }: EventOf<'TradePositionUpdated'>, renewed: LiquidationParams | null): PositionEventBody {
  return {
    kind: 'resized',
    collateralAmount: CollateralAmount.of(args.collateralAmount),
    leverage: args.leverage,
    openPrice: Price.of(args.openPrice),
    sl: Price.of(args.newSl),
    positionSizeToken: TokenSize.of(args.newPositionSizeToken),
    renewedLiquidationParams: renewed,
  }
}

/** Events that describe a change of a position completely. */
type PositionNewsEvent = EventOf<
  | 'HoldingFeesChargedOnTrade'
  | 'HoldingFeesRealizedOnTrade'
  | 'PnlRealizedOnOpenTrade'
  | 'TradeClosed'
  | 'TradeCollateralUpdated'
  | 'TradeInitialAccFeesStored'
  | 'TradeMaxClosingSlippagePUpdated'
  | 'TradeSlUpdated'
  | 'TradeTpUpdated'
  | 'TradingFeesRealized'
>

/** Records a change of a position. Ignores resting orders, and positions opened before the follower's first block. */
export async function applyPositionNews(tx: TransactionScope, event: PositionNewsEvent & PlacedEvent): Promise<void> {
  const { trader, tradeIndex, body } = positionNewsOf(event)
  const positionId = await tx.scope.findPosition(traderOf(trader), tradeIndex)
  if (positionId === undefined) return
  await tx.scope.addPositionEvent(positionId, { ...tx.placeOf(event.logIndex), ...body })
}

/** A trade and the change of it that an event describes. */
interface PositionNews {
  readonly trader: `0x${string}`
  readonly tradeIndex: number
  readonly body: PositionEventBody
}

/**
 * Returns the change that an event describes. The Diamond keeps more about a trade's fees, but only the four numbers
 * that a valuation needs are followed; each event carries their new values, so none depends on an earlier one.
 */
function positionNewsOf(event: PositionNewsEvent): PositionNews {
  const { name, args } = event
  switch (name) {
    case 'TradeInitialAccFeesStored':
      return news(args.trader, args.index, {
        kind: 'holdingFeesStarted',
        initialAccFundingFeeP: args.newInitialAccFundingFeeP,
        initialAccBorrowingFeeP: args.newInitialAccBorrowingFeeP,
      })
    case 'TradingFeesRealized':
      return news(args.trader, args.index, realized(args.newRealizedFeesCollateral, args.newRealizedPnlCollateral))
    case 'HoldingFeesChargedOnTrade':
      return news(
        args.trader,
        args.index,
        realized(args.newRealizedTradingFeesCollateral, args.newRealizedPnlCollateral),
      )
    case 'HoldingFeesRealizedOnTrade':
    case 'PnlRealizedOnOpenTrade':
      return news(args.trader, args.index, realized(null, args.newRealizedPnlCollateral))
    case 'TradeTpUpdated':
      return news(args.user, args.index, { kind: 'tpUpdated', tp: Price.of(args.newTp) })
    case 'TradeSlUpdated':
      return news(args.user, args.index, { kind: 'slUpdated', sl: Price.of(args.newSl) })
    case 'TradeMaxClosingSlippagePUpdated':
      return news(args.user, args.index, { kind: 'closingSlippageUpdated', maxSlippageP: args.maxClosingSlippageP })
    case 'TradeCollateralUpdated':
      return news(args.user, args.index, {
        kind: 'collateralUpdated',
        collateralAmount: CollateralAmount.of(args.collateralAmount),
      })
    case 'TradeClosed':
      return news(args.user, args.index, { kind: 'closed' })
  }
}

function news(trader: `0x${string}`, tradeIndex: number, body: PositionEventBody): PositionNews {
  return { trader, tradeIndex, body }
}

function realized(tradingFees: bigint | null, pnl: bigint | null): PositionEventBody {
  return {
    kind: 'realized',
    realizedTradingFeesCollateral: tradingFees === null ? null : CollateralAmount.of(tradingFees),
    realizedPnlCollateral: pnl === null ? null : CollateralAmount.of(pnl),
  }
}
