import type { ChainSlug } from '@bezel/protocol'

/** Windows over which traded volume counts toward the price impact. */
export const OI_WINDOWS = { durationSeconds: 60, count: 4 } as const

/** Of every pair: factors 1e10. */
export const PAIR_FACTORS = {
  protectionCloseFactor: 65_000_000_000n,
  protectionCloseFactorBlocks: 2_000,
  cumulativeFactor: 10_000_000_000n,
  exemptOnOpen: false,
  exemptAfterProtectionCloseFactor: false,
} as const

/** Largest open interest on one side of a pair, in whole USD; on chain it is 1e10 in collateral units. */
export const PAIR_MAX_OI_USD = 100_000_000n

/** Where a trading fee goes, 1e3 per percent. Referral comes off first; the others share the rest and sum to 100 %. */
export const GLOBAL_TRADE_FEES = {
  referralFeeP: 5_000,
  govFeeP: 24_500,
  triggerOrderFeeP: 4_000,
  gnsOtcFeeP: 56_500,
  gTokenFeeP: 15_000,
  gTokenOcFeeP: 0,
} as const

/** What differs between the Diamonds of the chains. */
export interface ChainSettings {
  /** After this many blocks an unanswered market order can be taken back. */
  readonly marketOrdersTimeoutBlocks: number
  /** For this many blocks a trigger in flight keeps others off; 10 to 30 seconds at the live chain's pace. */
  readonly triggerTimeoutBlocks: number
  /** Answers the aggregator waits for. */
  readonly minAnswers: number
}

/** Market timeouts and quorums as reported for the live chains; MegaETH's and all trigger timeouts are ours. */
export const CHAIN_SETTINGS: Readonly<Record<ChainSlug, ChainSettings>> = {
  arbitrum: { marketOrdersTimeoutBlocks: 200, triggerTimeoutBlocks: 50, minAnswers: 3 },
  base: { marketOrdersTimeoutBlocks: 30, triggerTimeoutBlocks: 8, minAnswers: 3 },
  polygon: { marketOrdersTimeoutBlocks: 30, triggerTimeoutBlocks: 7, minAnswers: 3 },
  megaeth: { marketOrdersTimeoutBlocks: 200, triggerTimeoutBlocks: 50, minAnswers: 3 },
  'arbitrum-sepolia': { marketOrdersTimeoutBlocks: 200, triggerTimeoutBlocks: 50, minAnswers: 2 },
}
