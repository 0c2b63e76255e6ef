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

/** First-generation borrowing of one pair, the same for every collateral; fees are 1e10 percent per block. */
interface ListedBorrowingV1 {
  readonly pairIndex: number
  /** Index of the borrowing group; 0 means none. */
  readonly groupIndex: number
  readonly feePerBlock: bigint
  readonly feeExponent: bigint
  /** Bounds of the counted net open interest, as shares (1e3 per percent) of the pair's largest open interest. */
  readonly cap: { readonly minP: bigint; readonly maxP: bigint }
}

/** The pairs that still charge first-generation borrowing here, with the values of the public sample of June 2025. */
export const BORROWING_V1_PAIRS: readonly ListedBorrowingV1[] = [
  { pairIndex: 1, groupIndex: 1, feePerBlock: 3_560n, feeExponent: 1n, cap: { minP: 12_300n, maxP: 80_000n } },
  { pairIndex: 21, groupIndex: 4, feePerBlock: 981n, feeExponent: 1n, cap: { minP: 20_000n, maxP: 70_000n } },
  { pairIndex: 33, groupIndex: 2, feePerBlock: 5_388n, feeExponent: 1n, cap: { minP: 6_900n, maxP: 80_000n } },
]

/** The borrowing groups of those pairs: fee in 1e10 percent per block, largest open interest of a side in whole USD. */
export const BORROWING_V1_GROUPS: readonly {
  readonly index: number
  readonly feePerBlock: bigint
  readonly feeExponent: bigint
  readonly maxOiUsd: bigint
}[] = [
  { index: 1, feePerBlock: 10_656n, feeExponent: 1n, maxOiUsd: 100_000_000n },
  { index: 2, feePerBlock: 0n, feeExponent: 1n, maxOiUsd: 100_000_000n },
  { index: 4, feePerBlock: 860n, feeExponent: 1n, maxOiUsd: 100_000_000n },
]

/** Caps of every pair without its own, 1e3 per percent. */
export const BORROWING_V1_CAP = { minP: 0n, maxP: 100_000n } as const

/** Fee tiers of the public sample of June 2025: the multiplier (1e3) from a number of points on. */
export const FEE_TIERS: readonly { readonly feeMultiplier: bigint; readonly pointsThreshold: bigint }[] = [
  { feeMultiplier: 975n, pointsThreshold: 6_000_000n },
  { feeMultiplier: 950n, pointsThreshold: 20_000_000n },
  { feeMultiplier: 925n, pointsThreshold: 50_000_000n },
  { feeMultiplier: 900n, pointsThreshold: 100_000_000n },
  { feeMultiplier: 875n, pointsThreshold: 250_000_000n },
  { feeMultiplier: 850n, pointsThreshold: 400_000_000n },
  { feeMultiplier: 800n, pointsThreshold: 1_000_000_000n },
  { feeMultiplier: 750n, pointsThreshold: 2_000_000_000n },
]

/** Points per USD traded by fee group, 1e3; of the same sample. */
export const POINTS_PER_USD: readonly bigint[] = [6_000n, 1_200n, 0n, 0n, 0n, 0n, 5_000n, 8_000n, 1_600n, 2_000n]
