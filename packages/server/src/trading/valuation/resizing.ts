import { HUNDRED_PERCENT, Leverage, Price, TokenSize, type CollateralAmount } from '@bezel/protocol'
import type { CollateralState, Trade } from './chainState.ts'
import { positionSizeCollateral } from './collateralAmounts.ts'
import { profitP, tradeValueCollateral } from './profit.ts'

// Changes of a trade's size, with the formulas of contracts/src/callbacks/DecreasePositionSize.sol,
// IncreasePositionSize.sol and Effective.sol.

/** Returns the part of a trade that closes when collateral is taken out of it; its tokens are truncated. */
export function partByCollateral(trade: Trade, collateralDelta: CollateralAmount): Trade {
  return {
    ...trade,
    collateralAmount: collateralDelta,
    positionSizeToken: TokenSize.of((trade.positionSizeToken * collateralDelta) / trade.collateralAmount),
  }
}

/** Returns the part of a trade that closes when only its leverage (1e3) falls. */
export function partByLeverage(trade: Trade, leverageDelta: number): Trade {
  return {
    ...trade,
    leverage: leverageDelta,
    positionSizeToken: TokenSize.of((trade.positionSizeToken * BigInt(leverageDelta)) / BigInt(trade.leverage)),
  }
}

/**
 * Returns the open price after an increase: the old size at the current price and the new part at its execution price,
 * averaged and rounded against the trader (up for longs, down for shorts).
 */
export function increasedOpenPrice(
  trade: Trade,
  addedSizeCollateral: CollateralAmount,
  executionPrice: Price,
  oraclePrice: Price,
): Price {
  const pnlCollateral = (trade.collateralAmount * profitP(trade, oraclePrice)) / HUNDRED_PERCENT
  const oldSize = positionSizeCollateral(trade) + (trade.long ? pnlCollateral : -pnlCollateral)
  const weight = oldSize + addedSizeCollateral
  const sum = oldSize * trade.openPrice + addedSizeCollateral * executionPrice
  return Price.of((trade.long ? sum + weight - 1n : sum) / weight)
}

/**
 * Returns the leverage (truncated) relative to the value of a changed trade; an increase must stay within the pair's
 * maximum. `owed` is the fee of the change + pending holding fees - realised, without a closing fee. `undefined` when
 * the trade would be worth nothing.
 */
export function effectiveLeverage(
  changed: Trade,
  owed: CollateralAmount,
  price: Price,
  collateral: CollateralState,
): Leverage | undefined {
  const worth = tradeValueCollateral(changed.collateralAmount, profitP(changed, price), owed, collateral)
  if (worth === 0n) return undefined
  return Leverage.of((((positionSizeCollateral(changed) * price) / changed.openPrice) * Leverage.one) / worth)
}
