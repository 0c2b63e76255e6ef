import { CollateralAmount, HUNDRED_PERCENT, Leverage, max, min, PercentP, Price } from '@bezel/protocol'
import type { LiquidationParams, Market, Moment, PairListing, ValuedPosition, Trade } from './chainState.ts'
import { positionSizeCollateral } from './collateralAmounts.ts'
import { feeRateMultiplier, rawTradingFeeCollateral } from './fees.ts'
import { carriedFeesCollateral } from './holdingFees.ts'
import { traderSpreadP } from './priceImpact.ts'
import { profitP } from './profit.ts'

// The formulas of contracts/src/rules/Liquidation.sol.

/** Liquidation threshold of trades whose parameters were never set: 90 %. */
const LEGACY_THRESHOLD_P = PercentP.of((90n * HUNDRED_PERCENT) / 100n)

/** Distance of a stop loss from the liquidation threshold, in PnL, on top of both fees: 5 %. */
const LIQUIDATION_BUFFER_P = PercentP.of((5n * HUNDRED_PERCENT) / 100n)

/** The fields of an existing or planned trade that determine its liquidation price. */
export type LiquidatedTrade = Pick<Trade, 'long' | 'openPrice' | 'collateralAmount' | 'leverage' | 'isCounterTrade'>

/**
 * Returns the liquidation price of a position at a price and in a block. It owes the closing fee without any tier, plus
 * pending holding fees, less what is realised.
 */
export function liquidationPrice(position: ValuedPosition, market: Market, price: Price, moment: Moment): Price {
  const { trade, liquidationParams } = position
  const fees =
    closingFee(trade, market) + carriedFeesCollateral(position, market.pair, market.collateral, price, moment)
  return liquidationPriceOwing(CollateralAmount.of(fees), trade, liquidationParams, market)
}

/**
 * Returns the liquidation price of a trade that does not exist yet: its opening fee counts too, after the trader's
 * tier, and the parameters are those of the pair's group.
 */
export function liquidationPriceAtOpen(
  trade: LiquidatedTrade,
  openingFeeCollateral: CollateralAmount,
  market: Market,
): Price {
  const fees = CollateralAmount.of(closingFee(trade, market) + openingFeeCollateral)
  return liquidationPriceOwing(fees, trade, market.listing.liquidationParams, market)
}

/** Returns the liquidation price of a changed trade, which owes `carried` and, as any other, its closing fee. */
export function liquidationPriceAfterChange(
  carried: CollateralAmount,
  trade: LiquidatedTrade,
  params: LiquidationParams,
  market: Market,
): Price {
  return liquidationPriceOwing(CollateralAmount.of(closingFee(trade, market) + carried), trade, params, market)
}

/**
 * Returns the liquidation price of a trade that owes `fees` besides its loss, floored at 0. It is compared with the
 * index price.
 */
export function liquidationPriceOwing(
  fees: CollateralAmount,
  trade: LiquidatedTrade,
  params: LiquidationParams,
  { listing, terms, collateral }: Market,
): Price {
  const { openPrice, collateralAmount, leverage, long } = trade
  // Computed at 18 decimals x 1000, so that truncations happen where the Diamond has them.
  const scale = collateral.precisionDelta * Leverage.one
  const lossAllowed = (collateralAmount * liquidationThresholdP(params, leverage) * scale) / HUNDRED_PERCENT
  const left = lossAllowed - fees * scale
  const distance = (openPrice * left) / collateralAmount / BigInt(leverage) / collateral.precisionDelta
  // A trade from before v9.2 has no parameters, so no spread, with which it would not be closed either.
  const spreadP = min(traderSpreadP(listing, terms) / 2n, BigInt(params.maxLiqSpreadP))
  const net = distance - (openPrice * spreadP) / HUNDRED_PERCENT
  return Price.of(max(long ? openPrice - net : openPrice + net, 0n))
}

export function isLiquidationReached(liqPrice: Price, long: boolean, indexPrice: Price): boolean {
  return long ? indexPrice <= liqPrice : indexPrice >= liqPrice
}

function closingFee(trade: LiquidatedTrade, { listing, collateral }: Market): CollateralAmount {
  return rawTradingFeeCollateral(positionSizeCollateral(trade), trade.isCounterTrade, listing, collateral)
}

/** Returns the share of the collateral that may be lost; linear between the two leverages, the decrease truncated. */
export function liquidationThresholdP(params: LiquidationParams, leverage: number): PercentP {
  if (params.maxLiqSpreadP === 0) return LEGACY_THRESHOLD_P
  const start = PercentP.of(params.startLiqThresholdP)
  const end = PercentP.of(params.endLiqThresholdP)
  if (leverage <= params.startLeverage) return start
  if (leverage >= params.endLeverage) return end
  const range = BigInt(params.endLeverage - params.startLeverage)
  return PercentP.of(start - (BigInt(leverage - params.startLeverage) * (start - end)) / range)
}

/** The fields of a trade that determine its stop loss. */
export type StoppedTrade = Pick<Trade, 'long' | 'openPrice' | 'leverage' | 'isCounterTrade' | 'sl'>

/**
 * Returns the stop loss that the Diamond stores for a requested `trade.sl`: moved toward the open price when it is too
 * far away; 0 means none.
 */
export function clampStopLoss(trade: StoppedTrade, params: LiquidationParams, listing: PairListing): Price {
  if (trade.sl === 0n) return Price.zero
  const maxLossP = maxStopLossP(trade, params, listing)
  if (maxLossP === 0n) return Price.zero
  if (profitP(trade, trade.sl) >= -maxLossP) return trade.sl
  const distance = (trade.openPrice * maxLossP * Leverage.one) / BigInt(trade.leverage) / HUNDRED_PERCENT
  return Price.of(trade.long ? max(trade.openPrice - distance, 0n) : trade.openPrice + distance)
}

/** Returns the largest loss at which a stop loss may be set; 0 when there is no room for one. */
export function maxStopLossP(
  trade: Pick<Trade, 'leverage' | 'isCounterTrade'>,
  params: LiquidationParams,
  listing: PairListing,
): PercentP {
  const feeP = (listing.feeP * feeRateMultiplier(listing, trade.isCounterTrade)) / Leverage.one
  const buffer = (2n * feeP * BigInt(trade.leverage)) / Leverage.one + LIQUIDATION_BUFFER_P
  return PercentP.of(max(liquidationThresholdP(params, trade.leverage) - buffer, 0n))
}
