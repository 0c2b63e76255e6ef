import type { CollateralState, PairState } from './chainState.ts'
import { fundingMultipliers, MULTIPLIER_ONE } from './fundingMultipliers.ts'
import { pendingFunding } from './pendingFunding.ts'
import { SECONDS_PER_HOUR } from './scales.ts'

/** Decimals of the funding rates below: percent at 1e18. */
export const FUNDING_RATE_DECIMALS = 18

/** Decimals of the borrowing rate below: percent at 1e10. */
export const BORROWING_RATE_DECIMALS = 10

/** Percent per hour at 1e18; positive is paid, negative received. */
export interface FundingHourly {
  readonly longPercent: bigint
  readonly shortPercent: bigint
}

/**
 * The rate as it is at that time, for each side. A side without open interest shows 0, as the Diamond accrues nothing for it; so does a
 * pair that charges no funding. Truncated toward zero.
 */
export function fundingHourly(
  pair: PairState,
  collateral: CollateralState,
  price: bigint,
  timestampS: number,
): FundingHourly {
  if (!pair.fundingParams.fundingFeesEnabled) return { longPercent: 0n, shortPercent: 0n }
  const { fundingRatePerSecondP } = pendingFunding(pair, collateral, price, timestampS)
  const { long, short } = fundingMultipliers(pair, fundingRatePerSecondP > 0n)
  const hourly = fundingRatePerSecondP * SECONDS_PER_HOUR
  return { longPercent: (hourly * long) / MULTIPLIER_ONE, shortPercent: (-hourly * short) / MULTIPLIER_ONE }
}

/** Percent per hour at 1e10, exact; both sides pay it. */
export function borrowingHourlyPercent({ borrowingParams }: Pick<PairState, 'borrowingParams'>): bigint {
  return BigInt(borrowingParams.borrowingRatePerSecondP) * SECONDS_PER_HOUR
}
