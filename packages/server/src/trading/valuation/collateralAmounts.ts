import type { CollateralState, Trade } from './chainState.ts'
import { ONE_E3, P_10, USD_PRICE_ONE } from './scales.ts'

// As contracts/src/rules/Amounts.sol computes it.

/** S = C x L / 1000, truncated. */
export function positionSizeCollateral({
  collateralAmount,
  leverage,
}: Pick<Trade, 'collateralAmount' | 'leverage'>): bigint {
  return (collateralAmount * BigInt(leverage)) / ONE_E3
}

/** 1e18 USD, truncated. */
export function usdOfCollateral(amountCollateral: bigint, { precisionDelta, priceUsd }: CollateralState): bigint {
  return (amountCollateral * precisionDelta * priceUsd) / USD_PRICE_ONE
}

/** Of 1e18 USD, truncated. */
export function collateralOfUsd(usd: bigint, { precisionDelta, priceUsd }: CollateralState): bigint {
  return (usd * USD_PRICE_ONE) / priceUsd / precisionDelta
}

/**
 * Tokens (1e18) that a size is at `price` (1e10), truncated. They count in units of the collateral: a size of 1 WETH on a pair at
 * 100 is 0.01 tokens whatever WETH costs, so token amounts of two collaterals can't be added.
 */
export function tokensOfCollateral(sizeCollateral: bigint, price: bigint, { precisionDelta }: CollateralState): bigint {
  return (sizeCollateral * precisionDelta * P_10) / price
}

/**
 * Token size as people count it: base units whose number times the price is USD, 1e18, truncated. `collateralPriceUsd` (1e8) is the one
 * stored with the trade, so that a position's size does not move with the price of its collateral.
 */
export function baseSizeOfTokens(tokens: bigint, collateralPriceUsd: bigint): bigint {
  return (tokens * collateralPriceUsd) / USD_PRICE_ONE
}

/** The way back from tokens to collateral, signed, truncated. */
export function collateralOfTokens(tokens: bigint, price: bigint, { precisionDelta }: CollateralState): bigint {
  return (tokens * price) / P_10 / precisionDelta
}
