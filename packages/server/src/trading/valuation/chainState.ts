import type {
  CollateralAmount,
  CollateralPrice,
  FundingRateP,
  PercentP,
  Price,
  TokenSize,
  Usd,
  WholeCollateral,
} from '@bezel/protocol'

// The state of the Diamond that a valuation reads. Fields carry the chain's names and scales; integers of up to 48 bits
// are numbers, as viem decodes them, so `withScales` turns a decoded struct or event argument into one of these types.
// The structs are those of contracts/src/Types.sol.

/** A position, or a resting order when `tradeType` is not TRADE. */
export interface Trade {
  readonly user: `0x${string}`
  readonly index: number
  readonly pairIndex: number
  /** Scale 1e3. */
  readonly leverage: number
  readonly long: boolean
  readonly isOpen: boolean
  readonly collateralIndex: number
  readonly tradeType: number
  readonly collateralAmount: CollateralAmount
  readonly openPrice: Price
  /** Take profit and stop loss; 0 means none. */
  readonly tp: Price
  readonly sl: Price
  readonly isCounterTrade: boolean
  /** Size in tokens; 0 for a trade from before v10. */
  readonly positionSizeToken: TokenSize
}

export interface TradeInfo {
  /** USD price of the collateral when the trade was stored, 1e8. */
  readonly collateralPriceUsd: number
  readonly contractsVersion: number
  /** Block of the last increase; a close in profit soon after it bears the protection factor. */
  readonly lastPosIncreaseBlock: number
}

/** Liquidation parameters of a trade, copied from the pair's group when it opens and refreshed when its size grows. */
export interface LiquidationParams {
  /** Scale 1e10 per percent, like every name that ends in P unless noted otherwise. */
  readonly maxLiqSpreadP: number
  readonly startLiqThresholdP: number
  readonly endLiqThresholdP: number
  /** Scale 1e3. */
  readonly startLeverage: number
  readonly endLeverage: number
}

/** The fees and profit that a trade has realised so far, and the accumulators from which its holding fees started. */
export interface TradeFeesData {
  readonly realizedTradingFeesCollateral: CollateralAmount
  readonly realizedPnlCollateral: CollateralAmount
  /** Scale 1e20: percent x price. */
  readonly initialAccFundingFeeP: bigint
  readonly initialAccBorrowingFeeP: bigint
}

/** An open position with everything the chain keeps about it. */
export interface ValuedPosition {
  readonly trade: Trade
  readonly info: TradeInfo
  readonly liquidationParams: LiquidationParams
  readonly feesData: TradeFeesData
  /** The start of its first-generation borrowing fee; `null` when the chain has told none, which costs nothing. */
  readonly oldBorrowing: BorrowingInitialAccFees | null
}

/** The accumulators from which a trade's first-generation borrowing fee started, 1e10 per percent. */
export interface BorrowingInitialAccFees {
  readonly accPairFee: bigint
  readonly accGroupFee: bigint
  /** Block in which they were stored. */
  readonly block: number
}

export interface FundingFeeParams {
  /** Scale 1e26. */
  readonly skewCoefficientPerYear: bigint
  /** Scale 1e7. */
  readonly absoluteVelocityPerYearCap: number
  /** Scale 1e10, in percent per second. */
  readonly absoluteRatePerSecondCap: number
  /** In whole USD. */
  readonly thetaThresholdUsd: number
  readonly fundingFeesEnabled: boolean
  readonly aprMultiplierEnabled: boolean
}

export interface PairFundingFeeData {
  /** Scale 1e20: percent x price, signed. */
  readonly accFundingFeeLongP: bigint
  readonly accFundingFeeShortP: bigint
  /** Rate per second; positive when longs pay. */
  readonly lastFundingRatePerSecondP: FundingRateP
  readonly lastFundingUpdateTs: number
}

export interface BorrowingFeeParams {
  /** Scale 1e10, in percent per second. */
  readonly borrowingRatePerSecondP: number
}

export interface PairBorrowingFeeData {
  /** Scale 1e20: percent x price. */
  readonly accBorrowingFeeP: bigint
  readonly lastBorrowingUpdateTs: number
}

/** First-generation borrowing of a pair, or of a group of pairs. */
export interface BorrowingData {
  /** Scale 1e10, in percent per block, when the net open interest is at its maximum. */
  readonly feePerBlock: number
  /** Scale 1e10 per percent. */
  readonly accFeeLong: bigint
  readonly accFeeShort: bigint
  readonly accLastUpdatedBlock: number
  readonly feeExponent: number
}

/** The shares of the maximum open interest that count at least and at most, 1e3 per percent; 0 means no cap. */
export interface BorrowingFeePerBlockCap {
  readonly minP: number
  readonly maxP: number
}

/** A stay of a pair in a group: the accumulated fees (1e10 per percent) when it began. */
export interface BorrowingPairGroup {
  readonly groupIndex: number
  readonly block: number
  /** Fees of the group that the pair entered. */
  readonly initialAccFeeLong: bigint
  readonly initialAccFeeShort: bigint
  /** Fees of the group that it left. */
  readonly prevGroupAccFeeLong: bigint
  readonly prevGroupAccFeeShort: bigint
  readonly pairAccFeeLong: bigint
  readonly pairAccFeeShort: bigint
}

/** Open interest of a group of pairs, as the chain counts it. */
export interface OpenInterest {
  readonly long: WholeCollateral
  readonly short: WholeCollateral
  readonly max: WholeCollateral
}

/** First-generation borrowing of a pair in one collateral, with that of its group. */
export interface OldBorrowing {
  readonly data: BorrowingData
  readonly feePerBlockCap: BorrowingFeePerBlockCap
  /** Stays in groups, oldest first; the pair is in the group of the last one. */
  readonly pairGroups: readonly BorrowingPairGroup[]
  /** The group of the last stay; `undefined` when the pair never was in one. */
  readonly group: { readonly data: BorrowingData; readonly oi: OpenInterest } | undefined
}

/** Borrowing of a pair on which the first generation was never switched on. */
export const NO_OLD_BORROWING: OldBorrowing = {
  data: { feePerBlock: 0, accFeeLong: 0n, accFeeShort: 0n, accLastUpdatedBlock: 0, feeExponent: 0 },
  feePerBlockCap: { minP: 0, maxP: 0 },
  pairGroups: [],
  group: undefined,
}

/** The state of one pair in one collateral. */
export interface PairState {
  /** Open interest of trades of v10 and later. */
  readonly oiLongToken: TokenSize
  readonly oiShortToken: TokenSize
  /** Open interest of trades from before v10, which have no token size. */
  readonly oiLongBeforeV10Collateral: CollateralAmount
  readonly oiShortBeforeV10Collateral: CollateralAmount
  /** Largest open interest of one side. */
  readonly maxOi: WholeCollateral
  /** Largest difference between the two sides; 0 means no limit. */
  readonly maxSkew: WholeCollateral
  /** Depth for the skew impact; 0 means that the skew moves no price. */
  readonly skewDepth: TokenSize
  readonly fundingParams: FundingFeeParams
  readonly fundingData: PairFundingFeeData
  readonly borrowingParams: BorrowingFeeParams
  readonly borrowingData: PairBorrowingFeeData
  readonly oldBorrowing: OldBorrowing
}

/**
 * One side of a pair's depth, decoded: the cumulative shares of the total, and the price offset at which each band
 * ends.
 */
export interface DepthBook {
  /** Total depth in whole USD; 0 means that none is set, so volume moves no price. */
  readonly totalDepthUsd: bigint
  /** Cumulative shares of the 30 bands, in hundredths of a percent. */
  readonly sharesBps: readonly bigint[]
  /** Price offsets of the 30 bands, in millionths of the price (1e4 per percent). */
  readonly offsetsPpm: readonly bigint[]
}

export interface PairFactors {
  /** Scale 1e10: 1e10 is a factor of one. */
  readonly protectionCloseFactor: number
  readonly protectionCloseFactorBlocks: number
  /** Scale 1e10: 1e10 is a factor of one. */
  readonly cumulativeFactor: number
  readonly exemptOnOpen: boolean
  readonly exemptAfterProtectionCloseFactor: boolean
}

/** The settings of a pair that apply in every collateral, resolved through its group and fee group. */
export interface PairListing {
  readonly spreadP: PercentP
  /** Trading fee as a share of the position size (totalPositionSizeFeeP). */
  readonly feeP: PercentP
  /** Liquidation fee as a share of the collateral (totalLiqCollateralFeeP). */
  readonly liqFeeP: PercentP
  /** Smallest size on which a fee is charged (pairMinPositionSizeUsd). */
  readonly minPositionSizeUsd: Usd
  /** Fee multiplier of counter trades, 1e3 (getPairCounterTradeFeeRateMultiplier). */
  readonly counterTradeFeeRateMultiplier: number
  readonly liquidationParams: LiquidationParams
  readonly depthAbove: DepthBook
  readonly depthBelow: DepthBook
  readonly factors: PairFactors
}

export interface CollateralState {
  /** 10^decimals. */
  readonly precision: bigint
  /** 10^(18 - decimals). */
  readonly precisionDelta: bigint
  readonly priceUsd: CollateralPrice
}

export interface OiWindowsSettings {
  readonly startTs: number
  readonly windowsDuration: number
  readonly windowsCount: number
}

/** The volume bought (long) and sold (short) in one window. */
export interface PairOi {
  readonly oiLongUsd: Usd
  readonly oiShortUsd: Usd
}

/** A pair's recent volume over all collaterals, by window id. */
export interface VolumeState {
  readonly settings: OiWindowsSettings
  readonly windows: ReadonlyMap<number, PairOi>
}

/** The terms of one trader on one pair. */
export interface TraderTerms {
  /** Multiplier of the volume impact, 1e3; 0 means that the trader has none. */
  readonly cumulVolPriceImpactMultiplier: number
  /** Extra spread on top of the pair's, 1e3 per percent. */
  readonly fixedSpreadP: number
  readonly isProtectionWhitelisted: boolean
  /** Multiplier of the trading fee, 1e3: the tier cached for today. */
  readonly feeMultiplier: number
}

export const ORDINARY_TERMS: TraderTerms = {
  cumulVolPriceImpactMultiplier: 0,
  fixedSpreadP: 0,
  isProtectionWhitelisted: false,
  feeMultiplier: 1_000,
}

/** Everything that determines the price of a trader's trade of one pair in one collateral. */
export interface Market {
  readonly listing: PairListing
  readonly pair: PairState
  readonly collateral: CollateralState
  readonly volume: VolumeState
  readonly terms: TraderTerms
}

/** The block for which something is computed. */
export interface Moment {
  readonly timestampS: number
  readonly blockNumber: number
}
