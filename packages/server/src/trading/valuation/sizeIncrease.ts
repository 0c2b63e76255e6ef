import { positionSizeCollateral } from './collateralAmounts.ts'
import type { Trade } from './chainState.ts'
import { profitP } from './profit.ts'
import { HUNDRED_PERCENT } from './scales.ts'

// As contracts/src/callbacks/IncreasePositionSize.sol computes it.

/**
 * Open price after an increase: the old size at today's price and the new part at its execution price, averaged and rounded against
 * the trader (up for longs, down for shorts).
 */
export function increasedOpenPrice(
  trade: Trade,
  addedSizeCollateral: bigint,
  executionPrice: bigint,
  oraclePrice: bigint,
): bigint {
  const pnlCollateral = (trade.collateralAmount * profitP(trade, oraclePrice)) / HUNDRED_PERCENT
  const oldSize = positionSizeCollateral(trade) + (trade.long ? pnlCollateral : -pnlCollateral)
  const weight = oldSize + addedSizeCollateral
  const sum = oldSize * trade.openPrice + addedSizeCollateral * executionPrice
  return (trade.long ? sum + weight - 1n : sum) / weight
}
