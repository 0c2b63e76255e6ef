import { PercentP } from '@bezel/protocol'

/** A fee group in the form of `addFees`: percentages 1e10 per percent, the floor in 1e3 USD. */
interface ListedFee {
  readonly index: number
  readonly totalPositionSizeFeeP: bigint
  readonly totalLiqCollateralFeeP: bigint
  readonly oraclePositionSizeFeeP: bigint
  readonly minPositionSizeUsd: bigint
}

/**
 * Creates a fee group from the fee in thousandths of a percent of the position and the floor in whole USD. A
 * liquidation costs 10 % of the collateral in every group.
 */
function fee(index: number, feeMilliPercent: bigint, floorUsd: bigint): ListedFee {
  return {
    index,
    totalPositionSizeFeeP: feeMilliPercent * 10n ** 7n,
    totalLiqCollateralFeeP: 10n * PercentP.one,
    oraclePositionSizeFeeP: 0n,
    minPositionSizeUsd: floorUsd * 1000n,
  }
}

/** Fee groups of the public arbitrum-sepolia sample of June 2025. */
export const FEES: readonly ListedFee[] = [
  fee(0, 60n, 1_250n),
  fee(1, 12n, 45_000n),
  fee(2, 80n, 10_000n),
  fee(3, 120n, 45_000n),
  fee(4, 160n, 45_000n),
  fee(5, 50n, 45_000n),
  fee(6, 50n, 10_000n),
  fee(7, 80n, 10_000n),
  fee(8, 16n, 35_000n),
  fee(9, 20n, 35_000n),
]

/** Funding and skew of one pair, the same for every collateral. Scales are those of `FundingFeeParams`. */
interface ListedFunding {
  readonly pairIndex: number
  /** Skew coefficient per year, 1e26. */
  readonly skewCoefficientPerYear: bigint
  /** Cap of the velocity per year, 1e7: percent per second gained in a year. */
  readonly absoluteVelocityPerYearCap: bigint
  /** Cap of the rate, 1e10: percent per second. */
  readonly absoluteRatePerSecondCap: bigint
  readonly thetaThresholdUsd: bigint
  readonly aprMultiplierEnabled: boolean
  /** Largest skew in whole USD; on chain it is 1e10 in collateral units. */
  readonly maxSkewUsd: bigint
  /** Skew depth in whole tokens of the pair; 1e18 on chain. */
  readonly skewDepthTokens: bigint
  /** Largest leverage of a counter trade, 1e3. */
  readonly counterTradeMaxLeverage: bigint
  /** Fee of a counter trade, 1e3 of the normal fee. */
  readonly counterTradeFeeMultiplier: bigint
}

const COUNTER_TRADES = { counterTradeMaxLeverage: 25_000n, counterTradeFeeMultiplier: 500n }

/**
 * Our own parameters, because the live ones of these pairs are not public. One million USD of skew reaches the velocity
 * cap, and the rate then reaches its cap of 100 % a year within 100 seconds: slow enough to be harmless, fast enough to
 * be seen while trying things out.
 */
const VISIBLE = {
  absoluteVelocityPerYearCap: 10_000_000n,
  absoluteRatePerSecondCap: 31_709n,
  thetaThresholdUsd: 10_000n,
  aprMultiplierEnabled: true,
  maxSkewUsd: 20_000_000n,
  ...COUNTER_TRADES,
}

/**
 * The pairs with funding. LINK is the only one in the public sample of June 2025, with the values given there (the APR
 * multiplier is our own).
 */
export const FUNDING: readonly ListedFunding[] = [
  { pairIndex: 0, skewCoefficientPerYear: 65n * 10n ** 23n, skewDepthTokens: 1_000n, ...VISIBLE },
  { pairIndex: 1, skewCoefficientPerYear: 25n * 10n ** 22n, skewDepthTokens: 20_000n, ...VISIBLE },
  {
    pairIndex: 2,
    skewCoefficientPerYear: 10n ** 28n,
    absoluteVelocityPerYearCap: 10_000n,
    absoluteRatePerSecondCap: 3_170_978n,
    thetaThresholdUsd: 100_000n,
    aprMultiplierEnabled: true,
    maxSkewUsd: 20_000_000n,
    skewDepthTokens: 50_000n,
    ...COUNTER_TRADES,
  },
  { pairIndex: 33, skewCoefficientPerYear: 12n * 10n ** 21n, skewDepthTokens: 250_000n, ...VISIBLE },
]

/** Highest rate that the contract accepts: 1000 % a year. */
export const MAX_BORROWING_RATE_PER_SECOND_P = 317_097n

/** One percent a year in 1e10 percent per second. */
const PERCENT_A_YEAR = 317n

/**
 * Borrowing rate (second generation) by group index, 1e10 percent per second. Our own values: the live rates are not
 * public.
 */
export const BORROWING_RATE_PER_SECOND_P: readonly bigint[] = [
  10n * PERCENT_A_YEAR,
  2n * PERCENT_A_YEAR,
  5n * PERCENT_A_YEAR,
  5n * PERCENT_A_YEAR,
  5n * PERCENT_A_YEAR,
  4n * PERCENT_A_YEAR,
  5n * PERCENT_A_YEAR,
  6n * PERCENT_A_YEAR,
  3n * PERCENT_A_YEAR,
  4n * PERCENT_A_YEAR,
  15n * PERCENT_A_YEAR,
]
