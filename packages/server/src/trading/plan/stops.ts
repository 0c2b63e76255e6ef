import {
  ApiError,
  ContractsVersion,
  Leverage,
  Price,
  Slippage,
  type Decimal,
  type OrderType,
  type Side,
  type Warning,
} from '@bezel/protocol'
import { bookOf, type ListedMarket } from '../market/chainMarkets.ts'
import type { OrderRequest } from '../orders/orderModel.ts'
import type { PositionState } from '../positions/positionModel.ts'
import { clampStopLoss, type StoppedTrade } from '../valuation/liquidation.ts'
import { marketPrice } from '../valuation/priceImpact.ts'
import { marketOfPair } from './listed.ts'
import type { TradingContext } from './plan.ts'

// The stops of positions and orders: which of them the contracts would take and never honour, and which stop loss they
// keep instead of the one that was asked for.

/** A slippage of 100 percent. */
const WHOLE = 100n * Slippage.one

/** The terms of an order that opens a position. */
export interface StoppedOrder {
  readonly market: ListedMarket
  readonly collateralIndex: number
  readonly side: Side
  readonly type: OrderType
  /** Trigger price; not used for a market order. */
  readonly price: Price
  readonly leverage: Decimal
  readonly sl: Decimal | null
  readonly slippage: Decimal
}

/** The stop loss that a position will have, and a warning when it is not the one asked for. */
interface KeptStop {
  readonly sl: Price
  readonly warnings: readonly Warning[]
}

/** The stop loss that an order will have, `null` for none, and a warning when it is not the one asked for. */
interface OrderStop {
  readonly sl: Decimal | null
  readonly warnings: readonly Warning[]
}

type Stopped = Pick<PositionState, 'trade' | 'info' | 'liquidationParams'>

/**
 * Returns the stop loss that the contracts keep for a position when they are asked for `trade.sl`; 0 removes it. Throws
 * `UNSUPPORTED` for one that would never protect: on the wrong side of the market price, or where the contracts keep
 * none.
 */
export function keptStopLoss(position: Stopped, market: ListedMarket, context: TradingContext): KeptStop {
  const { trade, liquidationParams } = position
  if (trade.sl === 0n) return { sl: Price.zero, warnings: [] }
  const sl = clampStopLoss(trade, liquidationParams, market.listing)
  if (sl === 0n) throw noRoom(trade)
  requireHonoured('sl', sl, position, market, context)
  return { sl, warnings: clampWarnings(trade.sl, sl, 'measured from the entry price') }
}

/**
 * Returns the warnings of a change of leverage, which moves a stop loss that it leaves too near to the liquidation
 * price. Throws `UNSUPPORTED` when the position would lose its stop loss, or be closed by it at once.
 */
export function warnOfLeverage(
  { trade, ...position }: Stopped,
  leverage: Leverage,
  market: ListedMarket,
  context: TradingContext,
): readonly Warning[] {
  const changed = { ...trade, leverage: Number(leverage) }
  // A stop loss that stays where it is belongs to no change of leverage, wherever the price is.
  if (clampStopLoss(changed, position.liquidationParams, market.listing) === trade.sl) return []
  return keptStopLoss({ ...position, trade: changed }, market, context).warnings
}

/** Throws `UNSUPPORTED` for a take profit on the wrong side of the market price. 0, which removes it, always passes. */
export function requireTakeProfit(position: Stopped, market: ListedMarket, context: TradingContext): void {
  if (position.trade.tp !== 0n) requireHonoured('tp', position.trade.tp, position, market, context)
}

/**
 * Returns the stop loss that the contracts keep for an order. Throws `UNSUPPORTED` when they would keep none, and for a
 * stop order that would not execute.
 */
export function checkOrderStops(order: StoppedOrder, context: TradingContext): OrderStop {
  requireExecutable(order, context)
  return checkStopLoss(order, context)
}

/** Does the same for an order whose price and slippage stay as they are. */
export function checkStopLoss(order: StoppedOrder, context: TradingContext): OrderStop {
  const stop = orderStop(order, context)
  if (order.sl !== null && stop.sl === null) throw noRoom(tradeOf(order, context))
  return stop
}

/** Returns the warnings of an order that was planned earlier, as its plan would have them now. */
export function warningsOfRequest(request: OrderRequest, context: TradingContext): readonly Warning[] {
  if (request.sl === null || request.reduceOnly) return []
  const market = marketOfPair(context.chain, request.pairIndex)
  const price = request.price === null ? Price.zero : Price.parse(request.price)!
  return orderStop({ ...request, market, price }, context).warnings
}

/**
 * Returns the stop loss that the contracts keep for an order; they measure it from the trigger price while the order
 * rests, and from the execution price afterwards.
 */
function orderStop(order: StoppedOrder, context: TradingContext): OrderStop {
  const { listing } = order.market
  const trade = tradeOf(order, context)
  // The Diamond takes the parameters of the pair's group.
  const sl = clampStopLoss(trade, listing.liquidationParams, listing)
  const measured =
    order.type === 'market'
      ? 'estimated at the mark price: the contracts measure from the execution price'
      : 'measured from the trigger price, and again from the execution price'
  return { sl: sl === 0n ? null : Price.format(sl), warnings: clampWarnings(trade.sl, sl, measured) }
}

/** Returns the trade that the order is before it executes. */
function tradeOf(
  { type, side, price, leverage, sl, market }: StoppedOrder,
  { lastMarkOf }: TradingContext,
): StoppedTrade {
  const isStopped = sl !== null
  return {
    long: side === 'long',
    // Without a stop loss nothing is measured, so no mark is needed.
    openPrice: type === 'market' && isStopped ? lastMarkOf(market).price : price,
    leverage: Number(Leverage.parse(leverage)!),
    isCounterTrade: false,
    sl: isStopped ? Price.parse(sl)! : Price.zero,
  }
}

function clampWarnings(asked: Price, value: Price, measured: string): readonly Warning[] {
  if (value === asked) return []
  const becomes = Price.format(value)
  const message = `The contracts keep a stop loss away from the liquidation price: it becomes ${becomes}, ${measured}.`
  return [{ code: 'sl_clamped', field: 'sl', asked: Price.format(asked), value: becomes, message }]
}

/**
 * Throws unless the trigger is beyond the market price, in the direction in which it would execute later. The contracts
 * compare triggers with the oracle's price shifted by the skew; one that is passed already executes at once or, beyond
 * the slippage of its position, never.
 */
function requireHonoured(
  field: 'sl' | 'tp',
  kept: Price,
  { trade, info }: Stopped,
  market: ListedMarket,
  context: TradingContext,
): void {
  const reference = marketPriceOf(market, trade.collateralIndex, context, info.contractsVersion)
  const isAbove = (field === 'tp') === trade.long
  if (isAbove ? kept > reference : kept < reference) return
  const details = { field, value: Price.format(trade[field]), side: sideOf(trade), reference: Price.format(reference) }
  const becomes = kept === trade[field] ? '' : `, which the contracts make ${Price.format(kept)},`
  const rule = `must be ${isAbove ? 'above' : 'below'} the market price, ${details.reference}`
  const message = `The ${field} ${details.value}${becomes} of a ${details.side} ${rule}: elsewhere it executes at once or never.`
  throw new ApiError('UNSUPPORTED', message, details)
}

/** Throws for a stop order whose trigger the market price has passed by more than its slippage. */
function requireExecutable(order: StoppedOrder, context: TradingContext): void {
  if (order.type !== 'stop') return
  const { market, collateralIndex, side, price, slippage } = order
  const reference = marketPriceOf(market, collateralIndex, context)
  const passedBy = side === 'long' ? reference - price : price - reference
  // Truncated like the tolerance of the Diamond.
  if (passedBy <= (price * Slippage.parse(slippage)!) / WHOLE) return
  const details = { field: 'price', value: Price.format(price), side, reference: Price.format(reference) }
  const message = `The market price, ${details.reference}, has passed the trigger ${details.value} of this ${side} stop order by more than its slippage of ${slippage} %, so it would not execute.`
  throw new ApiError('UNSUPPORTED', message, details)
}

/** Returns the price that the contracts compare with triggers: the last mark, shifted by the skew. */
function marketPriceOf(
  market: ListedMarket,
  collateralIndex: number,
  { chain, lastMarkOf }: TradingContext,
  contractsVersion: number = ContractsVersion.V10,
): Price {
  const mark = lastMarkOf(market).price
  const book = bookOf(chain, collateralIndex, market.pairIndex)
  return book === undefined ? mark : marketPrice(mark, contractsVersion, book.pair)
}

function noRoom(trade: StoppedTrade): ApiError {
  const leverage = Leverage.format(Leverage.of(trade.leverage))
  const message = `The contracts keep no stop loss at a leverage of ${leverage}: fees and the distance to the liquidation price leave no room for one.`
  const details = {
    field: 'sl',
    value: Price.format(trade.sl),
    side: sideOf(trade),
    reference: Price.format(trade.openPrice),
  }
  return new ApiError('UNSUPPORTED', message, details)
}

function sideOf({ long }: Pick<StoppedTrade, 'long'>): Side {
  return long ? 'long' : 'short'
}
