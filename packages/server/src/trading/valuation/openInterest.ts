import { collateralOfTokens, usdOfCollateral } from './collateralAmounts.ts'
import type { CollateralState, PairState } from './chainState.ts'
import { P_10 } from './scales.ts'

/** 1e18 USD. */
export interface OpenInterestUsd {
  readonly longUsd: bigint
  readonly shortUsd: bigint
  /** Longs less shorts. */
  readonly skewUsd: bigint
}

/** A pair in one of its collaterals. */
export type PairInCollateral = { readonly pair: PairState; readonly collateral: CollateralState }

/** Of one collateral at `price`: pre-v10 open interest + tokens at the price, each side rounded down to the token's unit first. */
export function openInterestUsd({ pair, collateral }: PairInCollateral, price: bigint): OpenInterestUsd {
  const sideUsd = (beforeV10Collateral: bigint, tokens: bigint): bigint =>
    usdOfCollateral(beforeV10Collateral + collateralOfTokens(tokens, price, collateral), collateral)
  const longUsd = sideUsd(pair.oiLongBeforeV10Collateral, pair.oiLongToken)
  const shortUsd = sideUsd(pair.oiShortBeforeV10Collateral, pair.oiShortToken)
  return { longUsd, shortUsd, skewUsd: longUsd - shortUsd }
}

/** Of the market: the sum over its collaterals. */
export function marketOpenInterestUsd(books: readonly PairInCollateral[], price: bigint): OpenInterestUsd {
  let longUsd = 0n
  let shortUsd = 0n
  for (const book of books) {
    const one = openInterestUsd(book, price)
    longUsd += one.longUsd
    shortUsd += one.shortUsd
  }
  return { longUsd, shortUsd, skewUsd: longUsd - shortUsd }
}

/** Largest open interest of one side, in units of the collateral, truncated: getPairMaxOiCollateral. */
export function maxOpenInterestCollateral({ pair, collateral }: PairInCollateral): bigint {
  return (pair.maxOi * collateral.precision) / P_10
}
