import type { PairListing, TraderTerms } from './chainState.ts'

/** 1e3 per percent to 1e10 per percent. */
const E3_TO_P = 10n ** 7n

/** The pair's spread plus what this trader pays extra. */
export function traderSpreadP({ spreadP }: Pick<PairListing, 'spreadP'>, { fixedSpreadP }: TraderTerms): bigint {
  return spreadP + BigInt(fixedSpreadP) * E3_TO_P
}

/** Half of it on each side: a buy pays more, a sell gets less. Truncated toward zero. */
export function halfSpreadP(isBuy: boolean, listing: Pick<PairListing, 'spreadP'>, terms: TraderTerms): bigint {
  const half = traderSpreadP(listing, terms) / 2n
  return isBuy ? half : -half
}
