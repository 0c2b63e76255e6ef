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
import { isTriggerReached } from '../valuation/promisedSize.ts'
import { marketOfPair } from './listed.ts'
import type { TradingContext } from './plan.ts'

// The stops of positions and orders: which of them the contracts would take and never honour, and which stop loss they
// keep instead of the one that was asked for. Also the triggers of orders that the market price has reached already.

/** A slippage of 100 percent. */
const WHOLE = 100n * Slippage.one

/** A stop loss or a take profit. */
export type StopField = 'sl' | 'tp'

const STOP_FIELDS: readonly StopField[] = ['sl', 'tp']

/** The terms of an order that opens a position. */
export interface StoppedOrder {
  readonly market: ListedMarket
  readonly collateralIndex: number
  readonly side: Side
  readonly type: OrderType
  /** Trigger price; of a market order the expected price. */
  readonly price: Price
  readonly leverage: Decimal
  readonly sl: Decimal | null
  readonly tp: Decimal | null
  readonly slippage: Decimal
}

/** The stop loss that a position will have, and a warning when it is not the one asked for. */
interface KeptStop {
  readonly sl: Price
  readonly warnings: readonly Warning[]
}

/** The stop loss that an order will have, `null` for none, and the warnings of the order. */
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
 * Returns the stop loss that the contracts keep for an order, and the warnings of the order. Throws `UNSUPPORTED` when
 * they would keep none, for a stop order that would not execute, and for an order that executes at once and has a stop
 * on the wrong side of the market price.
 */
export function checkOrderStops(order: StoppedOrder, context: TradingContext): OrderStop {
  requireExecutable(order, context)
  const { sl, warnings } = checkNewStops(order, STOP_FIELDS, context)
  return { sl, warnings: [...marketableWarnings(order, context), ...warnings] }
}

/**
 * Does the same for an order of which only the named stops change. A stop order that the market price has left behind
 * may get any, because it does not execute now.
 */
export function checkNewStops(order: StoppedOrder, changed: readonly StopField[], context: TradingContext): OrderStop {
  const stop = orderStop(order, context)
  if (order.sl !== null && stop.sl === null) throw noRoom(tradeOf(order, context))
  requireUnreached(order, changed, context)
  return stop
}

/**
 * Returns the contracts' error for a stop on the wrong side of an order's own price; `undefined` when they take all.
 * The rule of `checkTerms` in contracts/src/requests/Requests.sol.
 */
export function invalidStop({
  side,
  price,
  sl,
  tp,
}: Pick<StoppedOrder, 'side' | 'price' | StopField>): 'TradeTpInvalid' | 'TradeSlInvalid' | undefined {
  const isInvalid = (field: StopField, value: Decimal | null): boolean =>
    value !== null && !isBeyond(field, Price.parse(value)!, side, price)
  if (isInvalid('tp', tp)) return 'TradeTpInvalid'
  return isInvalid('sl', sl) ? 'TradeSlInvalid' : undefined
}

/** True when an order can have its stops: the contracts take them, keep them, and execute the order with them. */
export function canCarryStops(order: Omit<StoppedOrder, 'slippage'>, context: TradingContext): boolean {
  if (invalidStop(order) !== undefined || (order.sl !== null && orderStop(order, context).sl === null)) return false
  return reachedStop(order, STOP_FIELDS, context) === undefined
}

/** Returns the warnings of an order that was planned earlier, as its plan would have them now. */
export function warningsOfRequest(request: OrderRequest, context: TradingContext): readonly Warning[] {
  if (request.reduceOnly || (request.type === 'market' && request.sl === null)) return []
  const market = marketOfPair(context.chain, request.pairIndex)
  const price = request.price === null ? Price.zero : Price.parse(request.price)!
  const order = { ...request, market, price }
  return [...marketableWarnings(order, context), ...orderStop(order, context).warnings]
}

/**
 * Returns the stop loss that the contracts keep for an order; they measure it from the trigger price while the order
 * rests, and from the execution price afterwards.
 */
function orderStop(order: Omit<StoppedOrder, 'slippage'>, context: TradingContext): OrderStop {
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
  { type, side, price, leverage, sl, market }: Omit<StoppedOrder, 'slippage'>,
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

/** Returns the warning of a limit or stop order that will not rest: the market price has reached its trigger. */
function marketableWarnings(order: StoppedOrder, context: TradingContext): readonly Warning[] {
  const { type, side, price, market, collateralIndex } = order
  if (type === 'market') return []
  const reached = whenReady(() => marketPriceOf(market, collateralIndex, context))
  if (reached === undefined || !isTriggerReached(type, side === 'long', reached, price)) return []
  const [asked, value] = [Price.format(price), Price.format(reached)]
  const message = `The market price, ${value}, has reached the price ${asked} of this ${side} ${type} order: it does not rest, and executes at about the market price as soon as it is on the chain.`
  return [{ code: 'marketable', field: 'price', asked, value, message }]
}

/** True when a stop lies beyond a price, in the direction in which it executes. */
function isBeyond(field: StopField, stop: Price, side: Side, price: Price): boolean {
  return isAbovePrice(field, side) ? stop > price : stop < price
}

/** True for a stop that executes when the price rises. */
function isAbovePrice(field: StopField, side: Side): boolean {
  return (field === 'tp') === (side === 'long')
}

/**
 * Throws unless the trigger is beyond the market price, in the direction in which it would execute later. The contracts
 * compare triggers with the oracle's price shifted by the skew; one that is passed already executes at once or, beyond
 * the slippage of its position, never.
 */
function requireHonoured(
  field: StopField,
  kept: Price,
  { trade, info }: Stopped,
  market: ListedMarket,
  context: TradingContext,
): void {
  const reference = marketPriceOf(market, trade.collateralIndex, context, info.contractsVersion)
  const side = sideOf(trade)
  if (isBeyond(field, kept, side, reference)) return
  const { stop, rule, details } = wordsOf({ field, asked: trade[field], kept, side, reference })
  const message = `The ${stop} of a ${side} ${rule}: elsewhere it executes at once or never.`
  throw new ApiError('UNSUPPORTED', message, details)
}

/**
 * Throws for a stop of an order that would keep it from executing, or close its position at once. A stop on the wrong
 * side of the order's own price is left to the contracts, which revert.
 */
function requireUnreached(order: StoppedOrder, changed: readonly StopField[], context: TradingContext): void {
  const reached = invalidStop(order) === undefined ? reachedStop(order, changed, context) : undefined
  if (reached === undefined || leftBehindAt(order, context) !== undefined) return
  const { field, side } = reached
  const { stop, rule, details } = wordsOf(reached)
  const why = `because this ${side} ${order.type} order executes at the market price`
  const otherwise = 'Elsewhere the contracts take it and never execute the order, or close its position at once.'
  const remedy = `Choose another ${field} or price, or "0" for no ${field}.`
  throw new ApiError('UNSUPPORTED', `The ${stop} ${rule}, ${why}. ${otherwise}`, { ...details, remedy })
}

/** A stop on the wrong side of a price. */
interface WrongStop {
  readonly field: StopField
  readonly asked: Price
  /** Price that the contracts make of it. */
  readonly kept: Price
  readonly side: Side
  /** Price that it should be beyond. */
  readonly reference: Price
}

/**
 * Returns the first of these stops that the price at which the order executes now has reached; `undefined` for an order
 * that rests, and while no price can be had. The contracts compare a stop loss with the mark when they execute the
 * order, and all stops with the market price from then on.
 */
function reachedStop(
  order: Omit<StoppedOrder, 'slippage'>,
  fields: readonly StopField[],
  context: TradingContext,
): WrongStop | undefined {
  const { market, collateralIndex, type, side, price } = order
  const stops = fields.filter((field) => order[field] !== null)
  if (stops.length === 0) return undefined
  const prices = whenReady(() => ({
    mark: context.lastMarkOf(market).price,
    shifted: marketPriceOf(market, collateralIndex, context),
  }))
  if (prices === undefined) return undefined
  const { mark, shifted } = prices
  if (type !== 'market' && !isTriggerReached(type, side === 'long', shifted, price)) return undefined
  for (const field of stops) {
    const asked = Price.parse(order[field]!)!
    // The contracts move the stop loss of a market order only when they execute it.
    const isMoved = field === 'sl' && type !== 'market'
    const kept = isMoved ? Price.parse(orderStop(order, context).sl ?? order.sl!)! : asked
    const references = field === 'sl' ? [mark, shifted] : [shifted]
    const reference = references.find((one) => !isBeyond(field, kept, side, one))
    if (reference !== undefined) return { field, asked, kept, side, reference }
  }
  return undefined
}

/** Returns a stop on the wrong side in words, the rule that it breaks, and the details of its refusal. */
function wordsOf({ field, asked, kept, side, reference }: WrongStop) {
  const details = { field, value: Price.format(asked), side, reference: Price.format(reference) }
  const becomes = kept === asked ? '' : `, which the contracts make ${Price.format(kept)},`
  const rule = `must be ${isAbovePrice(field, side) ? 'above' : 'below'} the market price, ${details.reference}`
  return { stop: `${field} ${details.value}${becomes}`, rule, details }
}

/** Throws for a stop order whose trigger the market price has passed by more than its slippage. */
function requireExecutable(order: StoppedOrder, context: TradingContext): void {
  const reference = leftBehindAt(order, context)
  if (reference === undefined) return
  const { side, price, slippage } = order
  const details = { field: 'price', value: Price.format(price), side, reference: Price.format(reference) }
  const message = `The market price, ${details.reference}, has passed the trigger ${details.value} of this ${side} stop order by more than its slippage of ${slippage} %, so it would not execute.`
  throw new ApiError('UNSUPPORTED', message, details)
}

/** Returns the market price that has passed a stop order's trigger by more than its slippage; `undefined` otherwise. */
function leftBehindAt(order: StoppedOrder, context: TradingContext): Price | undefined {
  if (order.type !== 'stop') return undefined
  const { market, collateralIndex, side, price, slippage } = order
  const reference = marketPriceOf(market, collateralIndex, context)
  const passedBy = side === 'long' ? reference - price : price - reference
  // Truncated like the tolerance of the Diamond.
  return passedBy <= (price * Slippage.parse(slippage)!) / WHOLE ? undefined : reference
}

/** Returns what a read of prices returns; `undefined` while there is no price to be had. */
function whenReady<Read>(read: () => Read): Read | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_READY') return undefined
    throw error
  }
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
