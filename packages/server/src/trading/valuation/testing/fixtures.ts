import {
  CollateralAmount,
  CollateralPrice,
  ContractsVersion,
  FundingRateP,
  PercentP,
  Price,
  TokenSize,
  TradeType,
  Usd,
  WholeCollateral,
} from '@bezel/protocol'
import {
  NO_OLD_BORROWING,
  ORDINARY_TERMS,
  type CollateralState,
  type DepthBook,
  type LiquidationParams,
  type Market,
  type Moment,
  type PairListing,
  type PairState,
  type ValuedPosition,
  type Trade,
} from '../chainState.ts'

// The pair and the trade of the worked vectors (vectors.test.ts). Tests change only the fields that they are about.

export const USDC: CollateralState = { precision: 10n ** 6n, precisionDelta: 10n ** 12n, priceUsd: CollateralPrice.one }

/** Converts USD to a price. */
export const price = (usd: number): Price => Price.of(BigInt(Math.round(usd * 1e4)) * 10n ** 6n)
export const usdc = (amount: number): CollateralAmount => CollateralAmount.of(BigInt(Math.round(amount * 1e6)))
export const tokens = (amount: number): TokenSize => TokenSize.of(BigInt(Math.round(amount * 1e6)) * 10n ** 12n)

export const LIQUIDATION: LiquidationParams = {
  maxLiqSpreadP: 500_000_000,
  startLiqThresholdP: 900_000_000_000,
  endLiqThresholdP: 750_000_000_000,
  startLeverage: 25_000,
  endLeverage: 60_000,
}

export const NO_DEPTH: DepthBook = { totalDepthUsd: 0n, sharesBps: [], offsetsPpm: [] }

/** A pair with a spread of 0.04 %, a fee of 0.06 % on at least 1250 USD, and no depth. */
export const LISTING: PairListing = {
  spreadP: PercentP.of(400_000_000n),
  feeP: PercentP.of(600_000_000n),
  liqFeeP: PercentP.of(100_000_000_000n),
  minPositionSizeUsd: Usd.of(1_250n * Usd.one),
  counterTradeFeeRateMultiplier: 500,
  liquidationParams: LIQUIDATION,
  depthAbove: NO_DEPTH,
  depthBelow: NO_DEPTH,
  factors: {
    protectionCloseFactor: 65_000_000_000,
    protectionCloseFactorBlocks: 2_000,
    cumulativeFactor: 10_000_000_000,
    exemptOnOpen: false,
    exemptAfterProtectionCloseFactor: false,
  },
}

/**
 * A pair without open interest, skew depth, funding and borrowing; its accumulators were last updated at second 1000.
 */
export const QUIET_PAIR: PairState = {
  oiLongToken: TokenSize.zero,
  oiShortToken: TokenSize.zero,
  oiLongBeforeV10Collateral: CollateralAmount.zero,
  oiShortBeforeV10Collateral: CollateralAmount.zero,
  maxOi: WholeCollateral.of(10n ** 18n),
  maxSkew: WholeCollateral.zero,
  skewDepth: TokenSize.zero,
  fundingParams: {
    skewCoefficientPerYear: 0n,
    absoluteVelocityPerYearCap: 0,
    absoluteRatePerSecondCap: 0,
    thetaThresholdUsd: 0,
    fundingFeesEnabled: false,
    aprMultiplierEnabled: false,
  },
  fundingData: {
    accFundingFeeLongP: 0n,
    accFundingFeeShortP: 0n,
    lastFundingRatePerSecondP: FundingRateP.zero,
    lastFundingUpdateTs: 1_000,
  },
  borrowingParams: { borrowingRatePerSecondP: 0 },
  borrowingData: { accBorrowingFeeP: 0n, lastBorrowingUpdateTs: 1_000 },
  oldBorrowing: NO_OLD_BORROWING,
}

export const MARKET: Market = {
  listing: LISTING,
  pair: QUIET_PAIR,
  collateral: USDC,
  volume: { settings: { startTs: 0, windowsDuration: 60, windowsCount: 4 }, windows: new Map() },
  terms: ORDINARY_TERMS,
}

export const MOMENT: Moment = { timestampS: 1_000, blockNumber: 100 }

/** A long of 100 USDC at 10x, opened at an oracle price of 60000. */
export const TRADE: Trade = {
  user: '0x0000000000000000000000000000000000000001',
  index: 0,
  pairIndex: 0,
  leverage: 10_000,
  long: true,
  isOpen: true,
  collateralIndex: 3,
  tradeType: TradeType.TRADE,
  collateralAmount: usdc(100),
  openPrice: price(60_012),
  tp: Price.zero,
  sl: Price.zero,
  isCounterTrade: false,
  positionSizeToken: TokenSize.of(16_663_333_999_866_693n),
}

export const POSITION: ValuedPosition = {
  trade: TRADE,
  info: { collateralPriceUsd: 100_000_000, contractsVersion: ContractsVersion.V10, lastPosIncreaseBlock: 90 },
  liquidationParams: LIQUIDATION,
  feesData: {
    realizedTradingFeesCollateral: usdc(0.75),
    realizedPnlCollateral: CollateralAmount.zero,
    initialAccFundingFeeP: 0n,
    initialAccBorrowingFeeP: 0n,
  },
  oldBorrowing: { accPairFee: 0n, accGroupFee: 0n, block: 90 },
}
