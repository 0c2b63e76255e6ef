import { positionSizeCollateral } from './collateralAmounts.ts'
import type { CollateralState, Trade } from './chainState.ts'
import { profitP, tradeValueCollateral } from './profit.ts'
import { ONE_E3 } from './scales.ts'

// As contracts/src/callbacks/Effective.sol computes it.

/**
 * Leverage (1e3, truncated) against what a changed trade would be worth; an increase must stay within the pair's largest. `owedCollateral`
 * is the fee of the change + pending holding fees - realised; no closing fee. Undefined when the trade would be worth nothing.
 */
export function effectiveLeverage(
  changed: Trade,
  owedCollateral: bigint,
  price: bigint,
  collateral: CollateralState,
): bigint | undefined {
  const worth = tradeValueCollateral(changed.collateralAmount, profitP(changed, price), owedCollateral, collateral)
  if (worth === 0n) return undefined
  return (((positionSizeCollateral(changed) * price) / changed.openPrice) * ONE_E3) / worth
}
