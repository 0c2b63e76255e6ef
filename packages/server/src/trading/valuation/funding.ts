import { abs, CollateralPrice, FundingRateP, min, PercentP, Price, TokenSize } from '@bezel/protocol'
import type { CollateralState, FundingFeeParams, PairState } from './chainState.ts'
import { oldBorrowingOfBlocksP } from './oldBorrowing.ts'
import type { PairInCollateral } from './openInterest.ts'
import { netTokens } from './priceImpact.ts'

// The formulas of contracts/src/rules/HoldingFees.sol. Velocities and caps are 1e10, like a `PercentP`.

const SECONDS_PER_HOUR = 3_600n
const SECONDS_PER_YEAR = 31_536_000n

/** Factor from a velocity or a cap to a rate. */
const RATE_PER_P = FundingRateP.one / PercentP.one
/** Divisor from tokens (1e18) x coefficient (1e26) to a velocity (1e10). */
const COEFFICIENT_SCALE = 10n ** 34n
/** Factor from the velocity cap (1e7) to a velocity (1e10). */
const VELOCITY_CAP_SCALE = 1_000n
/** Divisor from rate (1e18) x seconds x price (1e10) to an accumulator (1e20). */
const ACCUMULATOR_SCALE = 10n ** 8n

export const MULTIPLIER_ONE = 10n ** 20n
/** The largest multiplier: nobody earns more than this times what the other side pays, however lopsided the pair is. */
const MAX_MULTIPLIER = 100n * MULTIPLIER_ONE

/** The funding of a pair at a time (getPairPendingAccFundingFees). */
export interface FundingAccumulators {
  /** Accumulated funding of longs and shorts, 1e20: percent x price. */
  readonly accFundingFeeLongP: bigint
  readonly accFundingFeeShortP: bigint
  /** Rate per second; positive when longs pay. */
  readonly fundingRatePerSecondP: FundingRateP
}

/**
 * Returns the funding of a pair including what accrued since it was stored. A time before the last update, which no
 * block has, returns the stored state.
 */
export function pendingFunding(
  pair: PairState,
  collateral: CollateralState,
  price: Price,
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

  const lastRate = stored.fundingRatePerSecondP
  const velocity = fundingVelocityPerYear(fundingParams, netTokens(pair), price, collateral)
  const { ratePerSecondP, averagePerSecondP } = fundingRateAfter(fundingParams, lastRate, velocity, elapsedS)
  const rated = { ...stored, fundingRatePerSecondP: ratePerSecondP }
  if (!fundingParams.aprMultiplierEnabled || ratePerSecondP * lastRate >= 0n) {
    return accrued(rated, pair, averagePerSecondP, elapsedS, price)
  }
  // The earning side changes on the way, and with it the multiplier: until the rate is zero, then the rest. Both parts
  // count half of their outer rate, the second one also when the rate has been at its cap for most of the time.
  const toZeroS = secondsBetween(lastRate, FundingRateP.zero, velocity)
  const untilZero = accrued(rated, pair, FundingRateP.of(lastRate / 2n), toZeroS, price)
  return accrued(untilZero, pair, FundingRateP.of(ratePerSecondP / 2n), elapsedS - toZeroS, price)
}

/** Accrues an interval at an average rate. Shorts get what longs pay, each side scaled by its own multiplier. */
function accrued(
  from: FundingAccumulators,
  pair: PairState,
  averagePerSecondP: FundingRateP,
  elapsedS: bigint,
  price: Price,
): FundingAccumulators {
  const delta = (averagePerSecondP * elapsedS * price) / ACCUMULATOR_SCALE
  const { long, short } = fundingMultipliers(pair, averagePerSecondP > 0n)
  return {
    ...from,
    accFundingFeeLongP: from.accFundingFeeLongP + (delta * long) / MULTIPLIER_ONE,
    accFundingFeeShortP: from.accFundingFeeShortP - (delta * short) / MULTIPLIER_ONE,
  }
}

/**
 * Returns the change of the funding rate per year, 1e10, signed by the skew; 0 while the skew is below theta. Token
 * amounts count in units of the collateral, so net USD = tokens x price x the collateral's own price.
 */
export function fundingVelocityPerYear(
  params: FundingFeeParams,
  netToken: TokenSize,
  price: Price,
  { priceUsd }: CollateralState,
): bigint {
  const net = abs(netToken)
  // Net USD in the scale of the price (1e10).
  const netUsd = (((net * price) / TokenSize.one) * priceUsd) / CollateralPrice.one
  if (netUsd < BigInt(params.thetaThresholdUsd) * Price.one) return 0n
  const cap = BigInt(params.absoluteVelocityPerYearCap) * VELOCITY_CAP_SCALE
  const velocity = min((net * params.skewCoefficientPerYear) / COEFFICIENT_SCALE, cap)
  return netToken < 0n ? -velocity : velocity
}

/** The course of the rate over an interval. */
interface RateCourse {
  /** The rate at the end of the interval. */
  readonly ratePerSecondP: FundingRateP
  /** Time-weighted average over the interval. */
  readonly averagePerSecondP: FundingRateP
}

/**
 * Returns the course of the rate, which moves linearly until its cap and stays there. A pair whose cap was never set
 * has no funding. A rate that does not move, or was beyond a cap that governance has lowered since, is not cut.
 */
export function fundingRateAfter(
  params: FundingFeeParams,
  lastRate: FundingRateP,
  velocityPerYear: bigint,
  elapsedS: bigint,
): RateCourse {
  if (params.absoluteRatePerSecondCap === 0) return rateCourse(0n, 0n)
  if (velocityPerYear === 0n) return rateCourse(lastRate, lastRate)
  const largest = BigInt(params.absoluteRatePerSecondCap) * RATE_PER_P
  const cap = FundingRateP.of(velocityPerYear < 0n ? -largest : largest)
  const toCapS = secondsBetween(lastRate, cap, velocityPerYear)
  if (toCapS < 0n || elapsedS <= toCapS) {
    const rate = lastRate + (elapsedS * velocityPerYear * RATE_PER_P) / SECONDS_PER_YEAR
    return rateCourse(rate, (lastRate + rate) / 2n)
  }
  const total = ((lastRate + cap) / 2n) * toCapS + cap * (elapsedS - toCapS)
  return rateCourse(cap, total / elapsedS)
}

function rateCourse(rate: bigint, average: bigint): RateCourse {
  return { ratePerSecondP: FundingRateP.of(rate), averagePerSecondP: FundingRateP.of(average) }
}

/** Returns the whole seconds from one rate to another; negative when the rate moves the other way. */
function secondsBetween(fromRate: FundingRateP, toRate: FundingRateP, velocityPerYear: bigint): bigint {
  return ((toRate - fromRate) * SECONDS_PER_YEAR) / (velocityPerYear * RATE_PER_P)
}

/** The multipliers of each side's funding, 1e20. */
interface SideMultipliers {
  readonly long: bigint
  readonly short: bigint
}

/**
 * Returns the multipliers. A side without open interest has 0; with the APR multiplier the earning side shares what the
 * other side pays. Truncated.
 */
export function fundingMultipliers(
  { fundingParams, oiLongToken, oiShortToken }: Pick<PairState, 'fundingParams' | 'oiLongToken' | 'oiShortToken'>,
  doLongsPay: boolean,
): SideMultipliers {
  const isShared = fundingParams.aprMultiplierEnabled
  return {
    long: multiplier(oiLongToken, oiShortToken, isShared && !doLongsPay),
    short: multiplier(oiShortToken, oiLongToken, isShared && doLongsPay),
  }
}

function multiplier(own: TokenSize, other: TokenSize, isShared: boolean): bigint {
  if (own === 0n) return 0n
  return isShared ? min((other * MULTIPLIER_ONE) / own, MAX_MULTIPLIER) : MULTIPLIER_ONE
}

/** Funding rates in percent per hour; positive when paid, negative when received. */
interface FundingHourly {
  readonly longPercent: FundingRateP
  readonly shortPercent: FundingRateP
}

/**
 * Returns the rates of both sides at a time. A side without open interest has 0, because the Diamond accrues nothing
 * for it; so has a pair that charges no funding. Truncated toward zero.
 */
export function fundingHourly(
  pair: PairState,
  collateral: CollateralState,
  price: Price,
  timestampS: number,
): FundingHourly {
  if (!pair.fundingParams.fundingFeesEnabled) return { longPercent: FundingRateP.zero, shortPercent: FundingRateP.zero }
  const { fundingRatePerSecondP } = pendingFunding(pair, collateral, price, timestampS)
  const { long, short } = fundingMultipliers(pair, fundingRatePerSecondP > 0n)
  const hourly = fundingRatePerSecondP * SECONDS_PER_HOUR
  return {
    longPercent: FundingRateP.of((hourly * long) / MULTIPLIER_ONE),
    shortPercent: FundingRateP.of((-hourly * short) / MULTIPLIER_ONE),
  }
}

/**
 * Returns the borrowing rate in percent per hour: the second generation's, which both sides pay, plus the first
 * generation's, which is charged per block and here is that of the side that pays more.
 */
export function borrowingHourlyPercent(book: PairInCollateral, price: Price, blocksPerHour: number): PercentP {
  const perSecondP = BigInt(book.pair.borrowingParams.borrowingRatePerSecondP)
  return PercentP.of(perSecondP * SECONDS_PER_HOUR + oldBorrowingOfBlocksP({ ...book, price }, blocksPerHour))
}
