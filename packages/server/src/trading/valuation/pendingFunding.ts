import type { CollateralState, PairState } from './chainState.ts'
import { fundingMultipliers, MULTIPLIER_ONE } from './fundingMultipliers.ts'
import { fundingRateAfter, fundingVelocityPerYear, secondsToZeroRate } from './fundingRate.ts'
import { netTokens } from './skewImpact.ts'

// As contracts/src/rules/HoldingFees.sol computes it.

/** Rate (1e18) x seconds x price (1e10) to an accumulator at 1e20. */
const ACCUMULATOR_SCALE = 10n ** 8n

/** A pair's funding at a time: getPairPendingAccFundingFees. */
export interface FundingAccumulators {
  /** 1e20: percent x price. */
  readonly accFundingFeeLongP: bigint
  readonly accFundingFeeShortP: bigint
  /** 1e18; positive: longs pay. */
  readonly fundingRatePerSecondP: bigint
}

/** A time before the last update, which no block has, gives the state as it is stored. */
export function pendingFunding(
  pair: PairState,
  collateral: CollateralState,
  price: bigint,
  timestampS: number,
): FundingAccumulators {
  const { fundingParams, fundingData } = pair
  const stored: FundingAccumulators = {
    accFundingFeeLongP: fundingData.accFundingFeeLongP,
    accFundingFeeShortP: fundingData.accFundingFeeShortP,
    fundingRatePerSecondP: fundingData.lastFundingRatePerSecondP,
  }
  const elapsedS = BigInt(timestampS - fundingData.lastFundingUpdateTs)
  if (!fundingParams.fundingFeesEnabled || fundingData.lastFundingUpdateTs === 0 || elapsedS <= 0n) return stored

  const velocity = fundingVelocityPerYear(fundingParams, netTokens(pair), price, collateral)
  const toZeroS = secondsToZeroRate(stored.fundingRatePerSecondP, velocity)
  if (toZeroS === 0n || toZeroS >= elapsedS) return accrued(stored, pair, velocity, elapsedS, price)
  // The payer changes on the way: the part until the rate is zero, then the rest from zero.
  const atZero = { ...accrued(stored, pair, velocity, toZeroS, price), fundingRatePerSecondP: 0n }
  return accrued(atZero, pair, velocity, elapsedS - toZeroS, price)
}

/** One interval in which the rate keeps its sign. What longs pay, shorts get, each side scaled by its own multiplier. */
function accrued(
  from: FundingAccumulators,
  pair: PairState,
  velocity: bigint,
  elapsedS: bigint,
  price: bigint,
): FundingAccumulators {
  const course = fundingRateAfter(pair.fundingParams, from.fundingRatePerSecondP, velocity, elapsedS)
  const delta = (course.averagePerSecondP * elapsedS * price) / ACCUMULATOR_SCALE
  const { long, short } = fundingMultipliers(pair, course.averagePerSecondP > 0n)
  return {
    accFundingFeeLongP: from.accFundingFeeLongP + (delta * long) / MULTIPLIER_ONE,
    accFundingFeeShortP: from.accFundingFeeShortP - (delta * short) / MULTIPLIER_ONE,
    fundingRatePerSecondP: course.ratePerSecondP,
  }
}
