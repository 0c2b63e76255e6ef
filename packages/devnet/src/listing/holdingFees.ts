/** Funding and skew of one pair, the same for every collateral it trades in. Scales are those of `FundingFeeParams`. */
export interface ListedFunding {
  readonly pairIndex: number
  /** 1e26. */
  readonly skewCoefficientPerYear: bigint
  /** 1e7, percent per second gained in a year. */
  readonly absoluteVelocityPerYearCap: bigint
  /** 1e10, percent per second. */
  readonly absoluteRatePerSecondCap: bigint
  readonly thetaThresholdUsd: bigint
  readonly aprMultiplierEnabled: boolean
  /** Whole USD; on chain it is 1e10 in collateral units. */
  readonly maxSkewUsd: bigint
  /** Whole tokens of the pair; 1e18 on chain. */
  readonly skewDepthTokens: bigint
  /** 1e3. */
  readonly counterTradeMaxLeverage: bigint
  /** 1e3 of the normal fee. */
  readonly counterTradeFeeMultiplier: bigint
}

const COUNTER_TRADES = { counterTradeMaxLeverage: 25_000n, counterTradeFeeMultiplier: 500n }

/**
 * Ours. The live parameters of these pairs are not public. With them, one million USD of skew reaches the velocity cap, and the rate
 * then reaches its cap of 100 % a year within 100 seconds: slow enough to be harmless, fast enough to be seen while trying things out.
 */
const VISIBLE = {
  absoluteVelocityPerYearCap: 10_000_000n,
  absoluteRatePerSecondCap: 31_709n,
  thetaThresholdUsd: 10_000n,
  aprMultiplierEnabled: true,
  maxSkewUsd: 20_000_000n,
  ...COUNTER_TRADES,
}

/** LINK is the one pair with funding in the public sample of June 2025, with the values given there (the APR multiplier is ours). */
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

/** What the contract accepts at most: 1000 % a year. */
export const MAX_BORROWING_RATE_PER_SECOND_P = 317_097n

/** 1e10 percent per second; 1 % a year is 317. */
const PERCENT_A_YEAR = 317n

/** Borrowing v2 rate by group index, 1e10 percent per second. Ours: the live rates are not public. */
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
