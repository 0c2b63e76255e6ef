import type { CollateralState, FundingFeeParams } from './chainState.ts'
import { larger, magnitude, P_10, SECONDS_PER_YEAR, smaller, USD_PRICE_ONE } from './scales.ts'

// As contracts/src/rules/HoldingFees.sol computes it.

/** Rates are 1e18, velocities and caps 1e10. */
const RATE_PER_P_10 = 10n ** 8n
/** Tokens (1e18) x coefficient (1e26) to a velocity (1e10). */
const COEFFICIENT_SCALE = 10n ** 34n
/** The velocity cap is 1e7. */
const VELOCITY_CAP_SCALE = 1_000n
/** Tokens (1e18) x price (1e10) to USD at 1e10. */
const USD_SCALE = 10n ** 18n

/** How the rate moves over an interval, both 1e18 percent per second. */
export interface RateCourse {
  /** At its end. */
  readonly ratePerSecondP: bigint
  /** Time-weighted over it. */
  readonly averagePerSecondP: bigint
}

/**
 * Change of the funding rate in a year, 1e10, signed by the skew; 0 while the skew is below theta. Token amounts count in units of the
 * collateral, so net USD = tokens x price x the collateral's own price.
 */
export function fundingVelocityPerYear(
  params: FundingFeeParams,
  netToken: bigint,
  price: bigint,
  { priceUsd }: CollateralState,
): bigint {
  const net = magnitude(netToken)
  const netUsd = (((net * price) / USD_SCALE) * priceUsd) / USD_PRICE_ONE
  if (netUsd < BigInt(params.thetaThresholdUsd) * P_10) return 0n
  const cap = BigInt(params.absoluteVelocityPerYearCap) * VELOCITY_CAP_SCALE
  const velocity = smaller((net * params.skewCoefficientPerYear) / COEFFICIENT_SCALE, cap)
  return netToken < 0n ? -velocity : velocity
}

/** The rate moves linearly until its cap and stays there. */
export function fundingRateAfter(
  params: FundingFeeParams,
  lastRate: bigint,
  velocityPerYear: bigint,
  elapsedS: bigint,
): RateCourse {
  const cap = BigInt(params.absoluteRatePerSecondCap) * RATE_PER_P_10
  const uncapped = lastRate + (elapsedS * velocityPerYear * RATE_PER_P_10) / SECONDS_PER_YEAR
  if (magnitude(uncapped) <= cap) return { ratePerSecondP: uncapped, averagePerSecondP: (lastRate + uncapped) / 2n }

  const capped = uncapped > 0n ? cap : -cap
  const toCapS = larger(secondsBetween(lastRate, capped, velocityPerYear), 0n)
  const total = ((lastRate + capped) / 2n) * toCapS + capped * (elapsedS - toCapS)
  return { ratePerSecondP: capped, averagePerSecondP: total / elapsedS }
}

/** Whole seconds until the rate is zero; 0 when it is zero or moves away from it. */
export function secondsToZeroRate(rate: bigint, velocityPerYear: bigint): bigint {
  return larger(secondsBetween(rate, 0n, velocityPerYear), 0n)
}

/** Negative when the rate moves the other way. */
function secondsBetween(fromRate: bigint, toRate: bigint, velocityPerYear: bigint): bigint {
  if (velocityPerYear === 0n) return 0n
  return ((toRate - fromRate) * SECONDS_PER_YEAR) / (velocityPerYear * RATE_PER_P_10)
}
