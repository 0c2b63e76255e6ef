import type { Market, Position } from './chainState.ts'
import { holdingFees } from './holdingFees.ts'
import { liquidationPrice } from './liquidation.ts'
import { grossValueCollateral, profitP, realizedCollateral } from './profit.ts'
import { HUNDRED_PERCENT } from './scales.ts'
import { marketPrice } from './skewImpact.ts'

/** The feed's two prices of a market, 1e10, both without skew. */
export interface FeedPrices {
  readonly mark: bigint
  readonly index: bigint
}

/** A position as it is shown. Amounts are in units of the collateral; a positive fee is paid by the trader. */
export interface PositionValue {
  /** The mark shifted by the pair's skew: what the position's profit is measured at. */
  readonly marketPrice: bigint
  readonly liquidationPrice: bigint
  /** Raw PnL at the market price - pending holding fees + realised; no closing fee. */
  readonly unrealizedPnlCollateral: bigint
  /** The same in percent of the collateral, 1e10, truncated toward zero. */
  readonly unrealizedPnlP: bigint
  readonly fundingFeeCollateral: bigint
  /** Of both generations. */
  readonly borrowingFeeCollateral: bigint
}

/**
 * Values a position at the last followed block's time. Holding fees accrue at the mark, as in an execution; those inside the liquidation
 * price at the index, which is what the oracles answer a liquidation with. Raw PnL is never below the collateral, fees can go further.
 */
export function valuePosition(
  position: Position,
  prices: FeedPrices,
  market: Market,
  timestampS: number,
): PositionValue {
  const { trade, info, feesData } = position
  const { pair, collateral } = market
  const fees = holdingFees(position, pair, collateral, prices.mark, timestampS)
  const price = marketPrice(prices.mark, info.contractsVersion, pair)
  const rawPnl =
    grossValueCollateral(trade.collateralAmount, profitP(trade, price), collateral) - trade.collateralAmount
  const unrealizedPnlCollateral = rawPnl - fees.totalFeeCollateral + realizedCollateral(feesData)
  return {
    marketPrice: price,
    liquidationPrice: liquidationPrice(position, market, prices.index, timestampS),
    unrealizedPnlCollateral,
    unrealizedPnlP: (unrealizedPnlCollateral * HUNDRED_PERCENT) / trade.collateralAmount,
    fundingFeeCollateral: fees.fundingFeeCollateral,
    borrowingFeeCollateral: fees.borrowingFeeCollateral + fees.oldBorrowingFeeCollateral,
  }
}
