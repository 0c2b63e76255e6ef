import {
  abs,
  Slippage,
  TokenSize,
  WholeCollateral,
  type CollateralAmount,
  type Leverage,
  type OrderReason,
  type Price,
} from '@bezel/protocol'
import type { Market, Trade } from './chainState.ts'
import { collateralOfTokens, positionSizeCollateral } from './collateralAmounts.ts'
import { isLiquidationReached } from './liquidation.ts'
import { maxOpenInterestCollateral, sideOpenInterest } from './openInterest.ts'
import { netTokens } from './priceImpact.ts'
import type { LeverageQuote, OpenQuote } from './quotes.ts'

// Reasons for which the Diamond refuses a request when the oracle answers, in the order in which it checks them: those
// of contracts/src/callbacks/Opening.sol, CloseTradeMarket.sol, DecreasePositionSize.sol and UpdateLeverage.sol.

/** The price that a request expects, and how far from it the Diamond may execute it. */
export interface ExpectedPrice {
  readonly expected: Price
  readonly slippage: Slippage
}

/** A trade to be opened, with the stops that were asked for; 0 means none. */
type OpeningTrade = Pick<Trade, 'long' | 'collateralAmount' | 'leverage' | 'tp' | 'sl'>

/** Returns the reason for which an open would be refused at that price of the oracle; `null` when it would execute. */
export function openingRefusal(
  trade: OpeningTrade,
  quote: OpenQuote,
  oraclePrice: Price,
  asked: ExpectedPrice,
  maxLeverage: Leverage,
  market: Market,
): OrderReason | null {
  const { long, tp, sl } = trade
  const { priceAfterImpact, positionSizeToken } = quote.impact
  if (isSlipped(long, priceAfterImpact, asked)) return 'SLIPPAGE'
  if (tp > 0n && (long ? priceAfterImpact >= tp : priceAfterImpact <= tp)) return 'TP_REACHED'
  if (sl > 0n && (long ? oraclePrice <= sl : oraclePrice >= sl)) return 'SL_REACHED'
  if (isLiquidationReached(quote.liquidationPrice, long, oraclePrice)) return 'LIQ_REACHED'
  const size = positionSizeCollateral(trade)
  if (!isWithinLimits({ long, size, tokens: positionSizeToken }, oraclePrice, market)) return 'EXPOSURE_LIMITS'
  if (quote.isImpactTooHigh) return 'PRICE_IMPACT'
  return BigInt(trade.leverage) > maxLeverage ? 'MAX_LEVERAGE' : null
}

/** Returns the reason for which a close of a whole position would be refused; `null` when it would execute. */
export function closeRefusal(long: boolean, executionPrice: Price, asked: ExpectedPrice): OrderReason | null {
  return isSlipped(!long, executionPrice, asked) ? 'SLIPPAGE' : null
}

/**
 * Returns the reason for which a partial close would be refused: the position or what is left of it is beyond its
 * liquidation price, the price has slipped, or the fee is more than the part. `null` when it would execute.
 */
export function partialCloseRefusal(
  { long }: Pick<Trade, 'long'>,
  of: {
    readonly liquidationPrices: readonly Price[]
    readonly oraclePrice: Price
    readonly executionPrice: Price
    /** Amount that the trader would get, before it is floored at 0. */
    readonly payoutCollateral: bigint
  },
  asked: ExpectedPrice,
): OrderReason | null {
  if (of.liquidationPrices.some((price) => isLiquidationReached(price, long, of.oraclePrice))) return 'LIQ_REACHED'
  if (isSlipped(!long, of.executionPrice, asked)) return 'SLIPPAGE'
  return of.payoutCollateral < 0n ? 'WRONG_TRADE' : null
}

/** Returns the reason for which a change of leverage would be refused; `null` when it would execute. */
export function leverageRefusal(
  before: Trade,
  { trade, liquidationPriceBefore, liquidationPrice, effectiveLeverage }: LeverageQuote,
  oraclePrice: Price,
  maxLeverage: Leverage,
): OrderReason | null {
  const { long } = before
  const isLiquidated = [liquidationPriceBefore, liquidationPrice].some((price) =>
    isLiquidationReached(price, long, oraclePrice),
  )
  if (isLiquidated) return 'LIQ_REACHED'
  if (trade.leverage <= before.leverage) return null
  return effectiveLeverage === undefined || effectiveLeverage > maxLeverage ? 'MAX_LEVERAGE' : null
}

/** True when a price is further from the expected one than the slippage allows. The tolerance is truncated. */
function isSlipped(isBuy: boolean, executionPrice: Price, { expected, slippage }: ExpectedPrice): boolean {
  const tolerance = (expected * slippage) / (100n * Slippage.one)
  return isBuy ? executionPrice > expected + tolerance : executionPrice + tolerance < expected
}

interface AddedInterest {
  readonly long: boolean
  readonly size: CollateralAmount
  readonly tokens: TokenSize
}

/** The formulas of contracts/src/rules/Exposure.sol: limits of the pair, of its group and of the skew. */
function isWithinLimits({ long, size, tokens }: AddedInterest, price: Price, market: Market): boolean {
  const { pair, collateral } = market
  const interest = sideOpenInterest(market, price)[long ? 'long' : 'short']
  if (interest + size > maxOpenInterestCollateral(market)) return false
  const group = pair.oldBorrowing.group?.oi
  const added = (size * WholeCollateral.one) / collateral.precision
  if (group !== undefined && group.max > 0n && (long ? group.long : group.short) + added > group.max) return false
  if (pair.maxSkew === 0n) return true
  const before = netTokens(pair)
  const after = TokenSize.of(before + (long ? tokens : -tokens))
  const skew = abs(collateralOfTokens(after, price, collateral))
  const isReduced = before > 0n === after > 0n && abs(after) < abs(before)
  return isReduced || skew <= (pair.maxSkew * collateral.precision) / WholeCollateral.one
}
