import { CollateralAmount, PendingOrderType, Price, TokenSize, withScales, type OrderId } from '@bezel/protocol'
import type { EventOf } from '../chain/events.ts'
import { findOrderByHandle, traderOf, type TransactionScope } from './transactionScope.ts'
import type { PlacedEvent } from '../chain/blocks.ts'
import type { BlockScope } from './blockScope.ts'
import { keepForeignOrder, openRequest } from './foreignOrders.ts'
import { increaseKey } from './readRenewedParams.ts'
import type { TransactionBooks } from './transactionBooks.ts'
import { withTokens } from '../trading/market/amounts.ts'
import type { LiquidationParams, Trade, TradeFeesData } from '../trading/valuation/chainState.ts'
import type { PositionState, PositionEvent } from '../trading/positions/positionModel.ts'
import type { ChainPlace } from '../trading/orders/orderModel.ts'

type Body<Event> = Event extends unknown ? Omit<Event, keyof ChainPlace> : never
/** A position event without its place on the chain. */
type PositionEventBody = Body<PositionEvent>

/**
 * Records a new position, with what the transaction told about it before: the contracts log the start of its holding
 * fees first. The order that opened it is known only from the execution event later in the same transaction.
 */
export async function applyOpened(
  tx: TransactionScope,
  event: EventOf<'TradeStored'> & PlacedEvent,
  at: number,
): Promise<void> {
  const trader = traderOf(event.args.user)
  const originOrderId = await findOrigin(tx, event, at)
  const positionId = await tx.scope.openPosition(trader, event.args.index, originOrderId)
  for (const earlier of tx.newsOfUnknown) {
    const isOfIt = earlier.trader === trader && earlier.tradeIndex === event.args.index
    if (isOfIt) await tx.addBookedEvent(positionId, earlier.event)
  }
  const body = openedBody(event, findExecution(tx, event.args, at)?.args.collateralPriceUsd)
  await tx.addBookedEvent(positionId, { ...tx.placeOf(event.logIndex), ...body })
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
  stored: EventOf<'TradeStored'>['args'],
  at: number,
): Promise<OrderId | undefined> {
  const executed = findExecution(tx, stored, at)
  if (executed === undefined) return undefined
  return executed.name === 'MarketExecuted'
    ? findOrderByHandle(tx, executed.args.orderId.user, `pending:${executed.args.orderId.index}`)
    : findOrderByHandle(tx, stored.user, `trade:${executed.args.limitIndex}`)
}

/** Finds the execution that opened a position; it follows in the same transaction. */
function findExecution(
  tx: TransactionScope,
  { user, index }: EventOf<'TradeStored'>['args'],
  at: number,
): EventOf<'LimitExecuted' | 'MarketExecuted'> | undefined {
  for (const event of tx.transaction.events.slice(at)) {
    if (event.name !== 'MarketExecuted' && event.name !== 'LimitExecuted') continue
    const opens = event.name === 'MarketExecuted' ? event.args.open : isOpening(event.args.orderType)
    if (opens && event.args.user === user && event.args.index === index) return event
  }
  return undefined
}

/** Returns true when a trigger of this order type opens a position; all other triggers close one. */
export function isOpening(orderType: number): boolean {
  return orderType === PendingOrderType.LIMIT_OPEN || orderType === PendingOrderType.STOP_OPEN
}

/**
 * Returns the stored form of a new position. The event itself does not tell the collateral's USD price (1e8), which the
 * contracts note only after it; the execution does.
 */
export function openedBody(
  { args }: EventOf<'TradeStored'>,
  executedPriceUsd = BigInt(args.tradeInfo.collateralPriceUsd),
): PositionEventBody {
  const { contractsVersion, lastPosIncreaseBlock } = args.tradeInfo
  return {
    kind: 'opened',
    trade: tradeOf(args.trade),
    info: { collateralPriceUsd: Number(executedPriceUsd), contractsVersion, lastPosIncreaseBlock },
    liquidationParams: args.liquidationParams,
    maxClosingSlippageP: args.tradeInfo.maxSlippageP,
  }
}

/** Drops the `__placeholder` field, which nothing reads, so that it is not stored. */
function tradeOf({ __placeholder: _, ...trade }: EventOf<'TradeStored'>['args']['trade']): Trade {
  return withScales<Trade>(trade)
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
  tx.tokensBefore.set(positionId, withTokens(tx.scope.markets, before.trade).positionSizeToken)
  const renewed = pendingOrderType === PendingOrderType.MARKET_PARTIAL_OPEN ? renewedParams(tx.scope, before) : null
  await tx.addBookedEvent(positionId, { ...tx.placeOf(event.logIndex), ...resizedBody(event, renewed) })
}

/**
 * Returns the liquidation parameters after a size increase, which adopts the current ones of the pair's group. No event
 * carries them, so they were read with the block; where the node did not answer, those of the group as last read stand
 * in, which only governance changes.
 */
function renewedParams(
  { renewed, markets, block }: Pick<BlockScope, 'renewed' | 'markets' | 'block'>,
  { trade, liquidationParams }: PositionState,
): LiquidationParams {
  const key = increaseKey({ blockNumber: block.number, trader: trade.user, tradeIndex: trade.index })
  return renewed.get(key) ?? markets.pairs.get(trade.pairIndex)?.listing.liquidationParams ?? liquidationParams
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

/** Drops the fields that no valuation reads. */
function feesDataOf(data: EventOf<'TradeFeesDataDownscaled'>['args']['newTradeFeesData']): TradeFeesData {
  const { realizedTradingFeesCollateral, realizedPnlCollateral, initialAccFundingFeeP, initialAccBorrowingFeeP } = data
  return withScales<TradeFeesData>({
    realizedTradingFeesCollateral,
    realizedPnlCollateral,
    initialAccFundingFeeP,
    initialAccBorrowingFeeP,
  })
}

/** Events that describe a change of a position completely. */
type PositionNewsEvent = EventOf<
  | 'BorrowingInitialAccFeesStored'
  | 'HoldingFeesChargedOnTrade'
  | 'HoldingFeesRealizedOnTrade'
  | 'PnlRealizedOnOpenTrade'
  | 'TradeClosed'
  | 'TradeCollateralUpdated'
  | 'TradeFeesDataDownscaled'
  | 'TradeInitialAccFeesStored'
  | 'TradeMaxClosingSlippagePUpdated'
  | 'TradeSlUpdated'
  | 'TradeTpUpdated'
  | 'TradingFeesRealized'
>

/**
 * Records a change of a position, or keeps it for a position that the same transaction opens later. Ignores resting
 * orders, and positions opened before the follower's first block.
 */
export async function applyPositionNews(tx: TransactionScope, event: PositionNewsEvent & PlacedEvent): Promise<void> {
  const { trader, tradeIndex, body } = positionNewsOf(event)
  const told: PositionEvent = { ...tx.placeOf(event.logIndex), ...body }
  const positionId = await tx.scope.findPosition(traderOf(trader), tradeIndex)
  if (positionId === undefined) {
    tx.newsOfUnknown.push({ trader, tradeIndex, event: told })
    return
  }
  await tx.addBookedEvent(positionId, told)
  tx.books.charge(positionId, chargesOf(event))
}

/** Returns the fees that an event charges to a position. */
function chargesOf(event: PositionNewsEvent): Parameters<TransactionBooks['charge']>[1] {
  switch (event.name) {
    case 'TradingFeesRealized':
      return { feeCollateral: CollateralAmount.of(event.args.tradingFeesCollateral) }
    case 'HoldingFeesChargedOnTrade':
    case 'HoldingFeesRealizedOnTrade': {
      const { fundingFeeCollateral, borrowingFeeCollateral, borrowingFeeCollateral_old } = event.args.tradeHoldingFees
      return {
        fundingFee: CollateralAmount.of(fundingFeeCollateral),
        borrowingFee: CollateralAmount.of(borrowingFeeCollateral + borrowingFeeCollateral_old),
      }
    }
    default:
      return {}
  }
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
    case 'BorrowingInitialAccFeesStored':
      return news(args.trader, args.index, {
        kind: 'oldBorrowingStarted',
        accPairFee: args.initialPairAccFee,
        accGroupFee: args.initialGroupAccFee,
      })
    case 'TradeFeesDataDownscaled':
      return news(args.trader, args.index, { kind: 'feesDownscaled', feesData: feesDataOf(args.newTradeFeesData) })
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
