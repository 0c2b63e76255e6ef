import type { CollateralState, Trade, TradeFeesData } from './chainState.ts'
import { HUNDRED_PERCENT, larger, ONE_E3 } from './scales.ts'

// As contracts/src/rules/TradeValue.sol computes it.

/** Percent of the collateral (1e10), truncated, never below -100 %. */
export function profitP(
  { long, openPrice, leverage }: Pick<Trade, 'long' | 'openPrice' | 'leverage'>,
  price: bigint,
): bigint {
  if (openPrice === 0n) return 0n
  const move = long ? price - openPrice : openPrice - price
  return larger((move * HUNDRED_PERCENT * BigInt(leverage)) / openPrice / ONE_E3, -HUNDRED_PERCENT)
}

/** Collateral with profit or loss, before any fee. Rounds at 18 decimals and then down to the token's, as the Diamond does. */
export function grossValueCollateral(
  collateralAmount: bigint,
  pnlP: bigint,
  { precisionDelta }: CollateralState,
): bigint {
  const scaled = collateralAmount * precisionDelta
  return (scaled + (scaled * pnlP) / HUNDRED_PERCENT) / precisionDelta
}

/** Value less `owedCollateral` (closing fee + pending holding fees - realised), floored at 0: what a close pays out. */
export function tradeValueCollateral(
  collateralAmount: bigint,
  pnlP: bigint,
  owedCollateral: bigint,
  collateral: CollateralState,
): bigint {
  return larger(grossValueCollateral(collateralAmount, pnlP, collateral) - owedCollateral, 0n)
}

/** What a position has earned and paid beside its open profit; the opening fee is inside. */
export function realizedCollateral(feesData: TradeFeesData): bigint {
  return feesData.realizedPnlCollateral - feesData.realizedTradingFeesCollateral
}
