import { CollateralAmount, HUNDRED_PERCENT, PercentP, type Price } from '@bezel/protocol'
import type { Market, Moment, ValuedPosition } from './chainState.ts'
import { holdingFees } from './holdingFees.ts'
import { liquidationPrice } from './liquidation.ts'
import { marketPrice } from './priceImpact.ts'
import { grossValueCollateral, profitP, realizedCollateral } from './profit.ts'

/** The two prices of a market in the feed, both without skew. */
export interface FeedPrices {
  readonly mark: Price
  readonly index: Price
}

/** The value of a position as it is shown. A positive fee is paid by the trader. */
export interface PositionValue {
  /** The mark shifted by the pair's skew, at which the position's profit is measured. */
  readonly marketPrice: Price
  readonly liquidationPrice: Price
  /** Raw PnL at the market price, minus pending holding fees, plus realised PnL; without the closing fee. */
  readonly unrealizedPnlCollateral: CollateralAmount
  /** The same in percent of the collateral, truncated toward zero. */
  readonly unrealizedPnlP: PercentP
  readonly fundingFeeCollateral: CollateralAmount
  /** Borrowing fees of both generations. */
  readonly borrowingFeeCollateral: CollateralAmount
}

/**
 * Values a position in a block. Holding fees accrue at the mark, as in an execution; those inside the liquidation price
 * accrue at the index, with which the oracles answer a liquidation. The raw loss never exceeds the collateral, but fees
 * can add to it.
 */
export function valuePosition(
  position: ValuedPosition,
  prices: FeedPrices,
  market: Market,
  moment: Moment,
): PositionValue {
  const { trade, info, feesData } = position
  const { pair, collateral } = market
  const fees = holdingFees(position, pair, collateral, prices.mark, moment)
  const price = marketPrice(prices.mark, info.contractsVersion, pair)
  const rawPnl =
    grossValueCollateral(trade.collateralAmount, profitP(trade, price), collateral) - trade.collateralAmount
  const unrealizedPnl = rawPnl - fees.totalFeeCollateral + realizedCollateral(feesData)
  return {
    marketPrice: price,
    liquidationPrice: liquidationPrice(position, market, prices.index, moment),
    unrealizedPnlCollateral: CollateralAmount.of(unrealizedPnl),
    unrealizedPnlP: PercentP.of((unrealizedPnl * HUNDRED_PERCENT) / trade.collateralAmount),
    fundingFeeCollateral: fees.fundingFeeCollateral,
    borrowingFeeCollateral: CollateralAmount.of(fees.borrowingFeeCollateral + fees.oldBorrowingFeeCollateral),
  }
}
