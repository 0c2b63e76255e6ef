import { CollateralAmount, HUNDRED_PERCENT, Leverage, max, PercentP, type Price } from '@bezel/protocol'
import type { CollateralState, Trade, TradeFeesData } from './chainState.ts'

// The formulas of contracts/src/rules/TradeValue.sol.

/** Returns the profit in percent of the collateral, truncated, never below -100 %. */
export function profitP(
  { long, openPrice, leverage }: Pick<Trade, 'long' | 'openPrice' | 'leverage'>,
  price: Price,
): PercentP {
  if (openPrice === 0n) return PercentP.zero
  const move = long ? price - openPrice : openPrice - price
  return PercentP.of(max((move * HUNDRED_PERCENT * BigInt(leverage)) / openPrice / Leverage.one, -HUNDRED_PERCENT))
}

/**
 * Returns the collateral with profit or loss, before any fee. Rounds at 18 decimals and then down to the token's, as
 * the Diamond does.
 */
export function grossValueCollateral(
  collateralAmount: CollateralAmount,
  pnlP: PercentP,
  { precisionDelta }: CollateralState,
): CollateralAmount {
  const scaled = collateralAmount * precisionDelta
  return CollateralAmount.of((scaled + (scaled * pnlP) / HUNDRED_PERCENT) / precisionDelta)
}

/**
 * Returns the payout of a close: the value less `owed` (closing fee + pending holding fees - realised), floored at 0.
 */
export function tradeValueCollateral(
  collateralAmount: CollateralAmount,
  pnlP: PercentP,
  owed: CollateralAmount,
  collateral: CollateralState,
): CollateralAmount {
  return CollateralAmount.of(max(grossValueCollateral(collateralAmount, pnlP, collateral) - owed, 0n))
}

/** Returns what a position has realised besides its open profit, including the opening fee. */
export function realizedCollateral(feesData: TradeFeesData): CollateralAmount {
  return CollateralAmount.of(feesData.realizedPnlCollateral - feesData.realizedTradingFeesCollateral)
}
