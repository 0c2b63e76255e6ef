// What the Diamond stores and a valuation reads. Fields carry the chain's names, scales and viem's types (number up to 48 bits, bigint
// beyond), so a decoded struct or event argument is assignable as it is. The structs are those of contracts/src/Types.sol.

/** A position, or a resting order when `tradeType` is not TRADE. */
export interface Trade {
  readonly user: `0x${string}`
  readonly index: number
  readonly pairIndex: number
  /** 1e3. */
  readonly leverage: number
  readonly long: boolean
  readonly isOpen: boolean
  readonly collateralIndex: number
  readonly tradeType: number
  /** Units of the token, like every name that ends in Collateral. */
  readonly collateralAmount: bigint
  /** 1e10, like every price; 0 is no take profit or stop loss. */
  readonly openPrice: bigint
  readonly tp: bigint
  readonly sl: bigint
  readonly isCounterTrade: boolean
  /** 1e18. */
  readonly positionSizeToken: bigint
}

export interface TradeInfo {
  /** 1e8, when the trade was stored. */
  readonly collateralPriceUsd: number
  readonly contractsVersion: number
  /** Decides how long a close in profit bears the protection factor. */
  readonly lastPosIncreaseBlock: number
}

/** Copied from the pair's group when a trade opens, refreshed when its size grows. */
export interface LiquidationParams {
  /** 1e10 per percent, like every name that ends in P unless it says otherwise. */
  readonly maxLiqSpreadP: number
  readonly startLiqThresholdP: number
  readonly endLiqThresholdP: number
  /** 1e3. */
  readonly startLeverage: number
  readonly endLeverage: number
}

/** What a trade has paid and earned so far, and where its holding fees started. */
export interface TradeFeesData {
  readonly realizedTradingFeesCollateral: bigint
  readonly realizedPnlCollateral: bigint
  /** 1e20: percent x price. */
  readonly initialAccFundingFeeP: bigint
  readonly initialAccBorrowingFeeP: bigint
}

/** An open position with everything the chain keeps about it. */
export interface Position {
  readonly trade: Trade
  readonly info: TradeInfo
  readonly liquidationParams: LiquidationParams
  readonly feesData: TradeFeesData
  /** Borrowing of the first generation, read by view call: its history of groups is not kept here. Zero on the local chain. */
  readonly oldBorrowingFeeCollateral: bigint
}

export interface FundingFeeParams {
  /** 1e26. */
  readonly skewCoefficientPerYear: bigint
  /** 1e7. */
  readonly absoluteVelocityPerYearCap: number
  /** 1e10, percent per second. */
  readonly absoluteRatePerSecondCap: number
  /** Whole USD. */
  readonly thetaThresholdUsd: number
  readonly fundingFeesEnabled: boolean
  readonly aprMultiplierEnabled: boolean
}

export interface PairFundingFeeData {
  /** 1e20: percent x price, signed. */
  readonly accFundingFeeLongP: bigint
  readonly accFundingFeeShortP: bigint
  /** 1e18, percent per second; positive: longs pay. */
  readonly lastFundingRatePerSecondP: bigint
  readonly lastFundingUpdateTs: number
}

export interface BorrowingFeeParams {
  /** 1e10, percent per second. */
  readonly borrowingRatePerSecondP: number
}

export interface PairBorrowingFeeData {
  /** 1e20: percent x price. */
  readonly accBorrowingFeeP: bigint
  readonly lastBorrowingUpdateTs: number
}

/** What the chain keeps for one pair in one collateral. */
export interface PairState {
  /** 1e18, trades of v10 and later. */
  readonly oiLongToken: bigint
  readonly oiShortToken: bigint
  /** Trades from before v10, which have no token size. */
  readonly oiLongBeforeV10Collateral: bigint
  readonly oiShortBeforeV10Collateral: bigint
  /** Largest open interest of one side: 1e10 in whole collateral. */
  readonly maxOi: bigint
  /** 1e18 tokens; 0: the skew moves no price. */
  readonly skewDepth: bigint
  readonly fundingParams: FundingFeeParams
  readonly fundingData: PairFundingFeeData
  readonly borrowingParams: BorrowingFeeParams
  readonly borrowingData: PairBorrowingFeeData
}

/** One side of a pair's depth, decoded: cumulative shares of the total, and the price offset at which each band ends. */
export interface DepthBook {
  /** Whole USD; 0: no depth is set, so volume moves no price. */
  readonly totalDepthUsd: bigint
  /** 30 shares in hundredths of a percent, cumulative. */
  readonly sharesBps: readonly bigint[]
  /** 30 offsets in millionths of the price (1e4 per percent). */
  readonly offsetsPpm: readonly bigint[]
}

export interface PairFactors {
  /** 1e10 is one. */
  readonly protectionCloseFactor: number
  readonly protectionCloseFactorBlocks: number
  /** 1e10 is one. */
  readonly cumulativeFactor: number
  readonly exemptOnOpen: boolean
  readonly exemptAfterProtectionCloseFactor: boolean
}

/** What holds for a pair in every collateral, resolved through its group and fee group. */
export interface PairListing {
  readonly spreadP: bigint
  /** Of the position size: totalPositionSizeFeeP. */
  readonly feeP: bigint
  /** Of the collateral: totalLiqCollateralFeeP. */
  readonly liqFeeP: bigint
  /** 1e18, as pairMinPositionSizeUsd gives it: the floor on which a fee is charged. */
  readonly minPositionSizeUsd: bigint
  /** 1e3, as getPairCounterTradeFeeRateMultiplier gives it. */
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
  /** 1e8. */
  readonly priceUsd: bigint
}

export interface OiWindowsSettings {
  readonly startTs: number
  readonly windowsDuration: number
  readonly windowsCount: number
}

/** 1e18 USD bought (long) and sold (short) in one window. */
export interface PairOi {
  readonly oiLongUsd: bigint
  readonly oiShortUsd: bigint
}

/** A pair's recent volume over all collaterals, by window id. */
export interface VolumeState {
  readonly settings: OiWindowsSettings
  readonly windows: ReadonlyMap<number, PairOi>
}

/** What the Diamond grants or charges one trader on one pair. */
export interface TraderTerms {
  /** 1e3 of the volume impact; 0 is none of their own. */
  readonly cumulVolPriceImpactMultiplier: number
  /** 1e3 per percent, on top of the pair's spread. */
  readonly fixedSpreadP: number
  readonly isProtectionWhitelisted: boolean
  /** 1e3 of the trading fee: the tier cached for today. */
  readonly feeMultiplier: number
}

export const ORDINARY_TERMS: TraderTerms = {
  cumulVolPriceImpactMultiplier: 0,
  fixedSpreadP: 0,
  isProtectionWhitelisted: false,
  feeMultiplier: 1_000,
}

/** Everything that prices a trader's trade of one pair in one collateral. */
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
