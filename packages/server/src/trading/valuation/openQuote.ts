import { positionSizeCollateral } from './collateralAmounts.ts'
import type { Market, Moment, Trade } from './chainState.ts'
import { isImpactTooHigh, priceOpen, type PriceImpact } from './executionPrice.ts'
import { rawTradingFeeCollateral, tieredFeeCollateral } from './fees.ts'
import { liquidationPriceAtOpen } from './liquidation.ts'

// As contracts/src/callbacks/Opening.sol computes it.

/** A trade to be. */
export type NewTrade = Pick<Trade, 'long' | 'collateralAmount' | 'leverage' | 'isCounterTrade'>

/** What opening a trade would come to. */
export interface OpenQuote {
  readonly impact: PriceImpact
  /** Becomes a realised trading fee of the position; the collateral stays whole. */
  readonly openingFeeCollateral: bigint
  readonly liquidationPrice: bigint
  /** The Diamond refuses the trade: spread and volume impact cost more than 40 % of the collateral. */
  readonly isImpactTooHigh: boolean
}

export function quoteOpen(trade: NewTrade, oraclePrice: bigint, market: Market, moment: Moment): OpenQuote {
  const size = positionSizeCollateral(trade)
  const impact = priceOpen(trade.long, size, oraclePrice, market, moment)
  const rawFee = rawTradingFeeCollateral(size, trade.isCounterTrade, market.listing, market.collateral)
  return {
    impact,
    openingFeeCollateral: tieredFeeCollateral(rawFee, market.terms),
    liquidationPrice: liquidationPriceAtOpen({ ...trade, openPrice: impact.priceAfterImpact }, market),
    isImpactTooHigh: isImpactTooHigh(impact, trade.long, trade.leverage),
  }
}
