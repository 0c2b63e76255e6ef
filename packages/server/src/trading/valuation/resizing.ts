import { CollateralAmount, HUNDRED_PERCENT, Leverage, max, Price } from '@bezel/protocol'
import type { CollateralState, Trade } from './chainState.ts'
import { positionSizeCollateral, tokensOfPart } from './collateralAmounts.ts'
import { profitP, tradeValueCollateral } from './profit.ts'

// Changes of a trade's size, with the formulas of contracts/src/callbacks/DecreasePositionSize.sol,
// IncreasePositionSize.sol and Effective.sol.

/** Returns the part of a trade that closes when collateral is taken out of it; its tokens are truncated. */
export function partByCollateral(trade: Trade, collateralDelta: CollateralAmount): Trade {
  return partOf(trade, { collateralAmount: collateralDelta, leverage: trade.leverage })
}

/** Returns the part of a trade that closes when only its leverage (1e3) falls. */
export function partByLeverage(trade: Trade, leverageDelta: number): Trade {
  return partOf(trade, { collateralAmount: trade.collateralAmount, leverage: leverageDelta })
}

function partOf(trade: Trade, part: Pick<Trade, 'collateralAmount' | 'leverage'>): Trade {
  return { ...trade, ...part, positionSizeToken: tokensOfPart(trade, positionSizeCollateral(part)) }
}

/** Returns the collateral at which a trade of the same size has another leverage: C x L / L', truncated. */
export function collateralAtLeverage(trade: Trade, leverage: Leverage): CollateralAmount {
  return CollateralAmount.of((trade.collateralAmount * BigInt(trade.leverage)) / leverage)
}

/** A trade after an increase, and the size that it gained. */
export interface Increase {
  readonly collateralAmount: CollateralAmount
  /** Scale 1e3. */
  readonly leverage: number
  readonly addedSizeCollateral: CollateralAmount
}

/**
 * Returns the size of a trade after an increase. Without collateral the leverage alone grows. The new leverage is
 * truncated, and the size with it; an increase of which that leaves nothing is refused.
 */
export function increasedSize(trade: Trade, collateralDelta: CollateralAmount, leverageDelta: number): Increase {
  const base = collateralDelta > 0n ? collateralDelta : trade.collateralAmount
  const before = positionSizeCollateral(trade)
  const asked = before + positionSizeCollateral({ collateralAmount: base, leverage: leverageDelta })
  const collateralAmount = CollateralAmount.of(trade.collateralAmount + collateralDelta)
  const leverage = Number((asked * Leverage.one) / collateralAmount)
  const after = positionSizeCollateral({ collateralAmount, leverage })
  return { collateralAmount, leverage, addedSizeCollateral: CollateralAmount.of(max(after - before, 0n)) }
}

/**
 * Returns the open price after an increase: the old size with its profit and the new part, both at the execution price,
 * averaged and rounded against the trader (up for longs, down for shorts).
 */
export function increasedOpenPrice(trade: Trade, addedSizeCollateral: CollateralAmount, executionPrice: Price): Price {
  const pnlCollateral = (trade.collateralAmount * profitP(trade, executionPrice)) / HUNDRED_PERCENT
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
  changed: Pick<Trade, 'long' | 'openPrice' | 'collateralAmount' | 'leverage'>,
  owed: CollateralAmount,
  price: Price,
  collateral: CollateralState,
): Leverage | undefined {
  const worth = tradeValueCollateral(changed.collateralAmount, profitP(changed, price), owed, collateral)
  if (worth === 0n) return undefined
  return Leverage.of((((positionSizeCollateral(changed) * price) / changed.openPrice) * Leverage.one) / worth)
}
