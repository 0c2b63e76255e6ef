import type { ChainSlug } from '@bezel/protocol'

/** The settings that differ between the Diamonds of the chains. */
interface ChainSettings {
  /** Blocks after which an unanswered market order can be taken back. */
  readonly marketOrdersTimeoutBlocks: number
  /** Blocks for which a trigger in flight blocks others; 10 to 30 seconds at the live chain's pace. */
  readonly triggerTimeoutBlocks: number
  /** Number of answers that the aggregator waits for. */
  readonly minAnswers: number
}

/**
 * The settings of each chain. Market timeouts and quorums are those reported for the live chains; MegaETH's and all
 * trigger timeouts are our own.
 */
export const CHAIN_SETTINGS: Readonly<Record<ChainSlug, ChainSettings>> = {
  arbitrum: { marketOrdersTimeoutBlocks: 200, triggerTimeoutBlocks: 50, minAnswers: 3 },
  base: { marketOrdersTimeoutBlocks: 30, triggerTimeoutBlocks: 8, minAnswers: 3 },
  polygon: { marketOrdersTimeoutBlocks: 30, triggerTimeoutBlocks: 7, minAnswers: 3 },
  megaeth: { marketOrdersTimeoutBlocks: 200, triggerTimeoutBlocks: 50, minAnswers: 3 },
  'arbitrum-sepolia': { marketOrdersTimeoutBlocks: 200, triggerTimeoutBlocks: 50, minAnswers: 2 },
}

/** Windows over which traded volume counts toward the price impact. */
export const OI_WINDOWS = { durationSeconds: 60, count: 4 } as const

/** Price impact factors of every pair, 1e10. */
export const PAIR_FACTORS = {
  protectionCloseFactor: 65_000_000_000n,
  protectionCloseFactorBlocks: 2_000,
  cumulativeFactor: 10_000_000_000n,
  exemptOnOpen: false,
  exemptAfterProtectionCloseFactor: false,
} as const

/** Largest open interest on one side of a pair, in whole USD; on chain it is 1e10 in collateral units. */
export const PAIR_MAX_OI_USD = 100_000_000n

/**
 * Distribution of a trading fee, 1e3 per percent. Referral comes off first; the others share the rest and sum to 100 %.
 */
export const GLOBAL_TRADE_FEES = {
  referralFeeP: 5_000,
  govFeeP: 24_500,
  triggerOrderFeeP: 4_000,
  gnsOtcFeeP: 56_500,
  gTokenFeeP: 15_000,
  gTokenOcFeeP: 0,
} as const

/**
 * Distance of each band's end from the mark, in ppm (1e4 per percent). Our own choice: finer near the mark, and the
 * last band ends at 1 %, so that a pair's total depth is exactly its "1 % depth" of the source table.
 */
export const DEPTH_BAND_OFFSETS_PPM: readonly number[] = [
  50, 100, 150, 200, 300, 400, 500, 600, 700, 800, 1_000, 1_200, 1_400, 1_600, 1_800, 2_000, 2_300, 2_600, 3_000, 3_400,
  3_800, 4_200, 4_700, 5_200, 5_800, 6_400, 7_100, 8_000, 9_000, 10_000,
]

/**
 * Share of the total depth within each band's offset, in bps, cumulative. Our own choice: 10000 x (offset / 1 %)^0.8,
 * rounded to tens, because order books are a little thicker near the mark.
 */
export const DEPTH_BAND_SHARES_BPS: readonly number[] = [
  140, 250, 350, 440, 600, 760, 910, 1_050, 1_190, 1_330, 1_580, 1_830, 2_070, 2_310, 2_540, 2_760, 3_090, 3_400, 3_820,
  4_220, 4_610, 5_000, 5_470, 5_930, 6_470, 7_000, 7_600, 8_370, 9_190, 10_000,
]
