import { BaseSize, CollateralAmount, CollateralPrice, Leverage, Price, TokenSize, Usd } from '@bezel/protocol'
import type { CollateralState, Trade } from './chainState.ts'

// The formulas of contracts/src/rules/Amounts.sol. Every division of these modules truncates toward zero, in Solidity
// as with bigint, so `x / a / b` and `x / (a * b)` are the same number for positive a and b.

/** Returns the size in collateral: S = C x L / 1000, truncated. */
export function positionSizeCollateral({
  collateralAmount,
  leverage,
}: Pick<Trade, 'collateralAmount' | 'leverage'>): CollateralAmount {
  return CollateralAmount.of((collateralAmount * BigInt(leverage)) / Leverage.one)
}

/** Converts an amount of collateral to USD, truncated. */
export function usdOfCollateral(amount: CollateralAmount, { precisionDelta, priceUsd }: CollateralState): Usd {
  return Usd.of((amount * precisionDelta * priceUsd) / CollateralPrice.one)
}

/** Converts USD to an amount of collateral, truncated. */
export function collateralOfUsd(usd: Usd, { precisionDelta, priceUsd }: CollateralState): CollateralAmount {
  return CollateralAmount.of((usd * CollateralPrice.one) / priceUsd / precisionDelta)
}

/**
 * Returns the tokens of a size at a price, truncated. Tokens count in units of the collateral: a size of 1 WETH on a
 * pair at 100 is 0.01 tokens whatever WETH costs, so token amounts of two collaterals can't be added.
 */
export function tokensOfCollateral(
  sizeCollateral: CollateralAmount,
  price: Price,
  { precisionDelta }: CollateralState,
): TokenSize {
  return TokenSize.of((sizeCollateral * precisionDelta * Price.one) / price)
}

/**
 * Returns the size of a trade in tokens. A trade from before v10 stores none, so its notional at the open price is
 * used.
 */
export function tokensOfTrade(trade: Trade, collateral: CollateralState): TokenSize {
  return trade.positionSizeToken > 0n
    ? trade.positionSizeToken
    : tokensOfCollateral(positionSizeCollateral(trade), trade.openPrice, collateral)
}

/** Returns the tokens of a part of a trade that has this size, truncated. */
export function tokensOfPart(trade: Trade, sizeCollateral: CollateralAmount): TokenSize {
  return TokenSize.of((sizeCollateral * trade.positionSizeToken) / positionSizeCollateral(trade))
}

/** Converts tokens back to collateral, signed, truncated. */
export function collateralOfTokens(
  tokens: TokenSize,
  price: Price,
  { precisionDelta }: CollateralState,
): CollateralAmount {
  return CollateralAmount.of((tokens * price) / Price.one / precisionDelta)
}

/**
 * Converts tokens to base units, truncated. `collateralPriceUsd` is the one stored with the trade, so that a position's
 * size does not move with the price of its collateral.
 */
export function baseSizeOfTokens(tokens: TokenSize, collateralPriceUsd: CollateralPrice): BaseSize {
  return BaseSize.of((tokens * collateralPriceUsd) / CollateralPrice.one)
}
