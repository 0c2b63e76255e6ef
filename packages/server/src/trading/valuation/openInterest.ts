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

/** Returns the open interest in one collateral, in USD. */
export function openInterestUsd(book: PairInCollateral, price: Price): OpenInterestUsd {
  const { long, short } = sideOpenInterest(book, price)
  const longUsd = usdOfCollateral(long, book.collateral)
  const shortUsd = usdOfCollateral(short, book.collateral)
  return { longUsd, shortUsd, skewUsd: Usd.of(longUsd - shortUsd) }
}

/**
 * Returns the open interest of both sides in one collateral: that of trades from before v10 plus tokens at the price,
 * each side rounded down to the collateral's unit.
 */
export function sideOpenInterest(
  { pair, collateral }: PairInCollateral,
  price: Price,
): { readonly long: CollateralAmount; readonly short: CollateralAmount } {
  const side = (beforeV10: CollateralAmount, tokens: TokenSize): CollateralAmount =>
    CollateralAmount.of(beforeV10 + collateralOfTokens(tokens, price, collateral))
  return {
    long: side(pair.oiLongBeforeV10Collateral, pair.oiLongToken),
    short: side(pair.oiShortBeforeV10Collateral, pair.oiShortToken),
  }
}

/** Returns the largest open interest of one side, truncated (getPairMaxOiCollateral). */
export function maxOpenInterestCollateral({ pair, collateral }: PairInCollateral): CollateralAmount {
  return CollateralAmount.of((pair.maxOi * collateral.precision) / WholeCollateral.one)
}
