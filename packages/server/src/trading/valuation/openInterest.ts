import { CollateralAmount, Usd, WholeCollateral, type Price, type TokenSize } from '@bezel/protocol'
import type { CollateralState, PairState } from './chainState.ts'
import { collateralOfTokens, usdOfCollateral } from './collateralAmounts.ts'

export interface OpenInterestUsd {
  readonly longUsd: Usd
  readonly shortUsd: Usd
  /** Open interest of longs less that of shorts. */
  readonly skewUsd: Usd
}

/** A pair in one of its collaterals. */
export type PairInCollateral = { readonly pair: PairState; readonly collateral: CollateralState }

/** Returns the open interest of a market: the sum over its collaterals. */
export function marketOpenInterestUsd(books: readonly PairInCollateral[], price: Price): OpenInterestUsd {
  let longUsd = 0n
  let shortUsd = 0n
  for (const book of books) {
    const one = openInterestUsd(book, price)
    longUsd += one.longUsd
    shortUsd += one.shortUsd
  }
  return { longUsd: Usd.of(longUsd), shortUsd: Usd.of(shortUsd), skewUsd: Usd.of(longUsd - shortUsd) }
}

/**
 * Returns the open interest in one collateral: that of trades from before v10 plus tokens at the price, each side first
 * rounded down to the token's unit.
 */
export function openInterestUsd({ pair, collateral }: PairInCollateral, price: Price): OpenInterestUsd {
  const sideUsd = (beforeV10: CollateralAmount, tokens: TokenSize): Usd =>
    usdOfCollateral(CollateralAmount.of(beforeV10 + collateralOfTokens(tokens, price, collateral)), collateral)
  const longUsd = sideUsd(pair.oiLongBeforeV10Collateral, pair.oiLongToken)
  const shortUsd = sideUsd(pair.oiShortBeforeV10Collateral, pair.oiShortToken)
  return { longUsd, shortUsd, skewUsd: Usd.of(longUsd - shortUsd) }
}

/** Returns the largest open interest of one side, truncated (getPairMaxOiCollateral). */
export function maxOpenInterestCollateral({ pair, collateral }: PairInCollateral): CollateralAmount {
  return CollateralAmount.of((pair.maxOi * collateral.precision) / WholeCollateral.one)
}
