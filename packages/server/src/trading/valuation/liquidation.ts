import { positionSizeCollateral } from './collateralAmounts.ts'
import type { LiquidationParams, Market, Position, Trade } from './chainState.ts'
import { rawTradingFeeCollateral } from './fees.ts'
import { carriedFeesCollateral } from './holdingFees.ts'
import { HUNDRED_PERCENT, larger, ONE_E3, smaller } from './scales.ts'
import { traderSpreadP } from './spread.ts'

// As contracts/src/rules/Liquidation.sol computes it.

/** Of trades whose parameters were never set. */
const LEGACY_THRESHOLD_P = (90n * HUNDRED_PERCENT) / 100n

/** What the liquidation price of a trade, or of a trade to be, depends on. */
export type LiquidatedTrade = Pick<Trade, 'long' | 'openPrice' | 'collateralAmount' | 'leverage' | 'isCounterTrade'>

/** Share of the collateral that may be lost, 1e10 per percent; linear between the two leverages, the decrease truncated. */
export function liquidationThresholdP(params: LiquidationParams, leverage: number): bigint {
  if (params.maxLiqSpreadP === 0) return LEGACY_THRESHOLD_P
  const start = BigInt(params.startLiqThresholdP)
  const end = BigInt(params.endLiqThresholdP)
  if (leverage <= params.startLeverage) return start
  if (leverage >= params.endLeverage) return end
  const range = BigInt(params.endLeverage - params.startLeverage)
  return start - (BigInt(leverage - params.startLeverage) * (start - end)) / range
}

/** Liquidation price (1e10) of a trade that owes `feesCollateral` beside its loss, floored at 0. Compared with the index price. */
export function liquidationPriceOwing(
  feesCollateral: bigint,
  trade: LiquidatedTrade,
  params: LiquidationParams,
  { listing, terms, collateral }: Market,
): bigint {
  const { openPrice, collateralAmount, leverage, long } = trade
  // Kept at 18 decimals x 1000 so that the truncations fall where the Diamond has them.
  const scale = collateral.precisionDelta * ONE_E3
  const lossAllowed = (collateralAmount * liquidationThresholdP(params, leverage) * scale) / HUNDRED_PERCENT
  const left = lossAllowed - feesCollateral * scale
  const distance = (openPrice * left) / collateralAmount / BigInt(leverage) / collateral.precisionDelta
  const spreadP = smaller(traderSpreadP(listing, terms) / 2n, BigInt(params.maxLiqSpreadP))
  const net = distance - (openPrice * spreadP) / HUNDRED_PERCENT
  return larger(long ? openPrice - net : openPrice + net, 0n)
}

/** Of a position at `price` and that time: fees are the closing fee without any tier, pending holding fees, less what is realised. */
export function liquidationPrice(position: Position, market: Market, price: bigint, timestampS: number): bigint {
  const { trade, liquidationParams } = position
  const fees =
    closingFee(trade, market) + carriedFeesCollateral(position, market.pair, market.collateral, price, timestampS)
  return liquidationPriceOwing(fees, trade, liquidationParams, market)
}

/** Of a trade that does not exist yet: its opening fee counts too, and the parameters are those of the pair's group. */
export function liquidationPriceAtOpen(trade: LiquidatedTrade, market: Market): bigint {
  return liquidationPriceOwing(2n * closingFee(trade, market), trade, market.listing.liquidationParams, market)
}

export function isLiquidationReached(liqPrice: bigint, long: boolean, indexPrice: bigint): boolean {
  return long ? indexPrice <= liqPrice : indexPrice >= liqPrice
}

function closingFee(trade: LiquidatedTrade, { listing, collateral }: Market): bigint {
  return rawTradingFeeCollateral(positionSizeCollateral(trade), trade.isCounterTrade, listing, collateral)
}
