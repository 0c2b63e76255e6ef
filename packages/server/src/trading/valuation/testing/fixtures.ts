import { ContractsVersion, TradeType } from '@bezel/protocol'
import {
  ORDINARY_TERMS,
  type CollateralState,
  type DepthBook,
  type LiquidationParams,
  type Market,
  type Moment,
  type PairListing,
  type PairState,
  type Position,
  type Trade,
} from '../chainState.ts'

// The pair and the trade of the worked vectors (vectors.test.ts). Tests change the one field they are about.

export const USDC: CollateralState = { precision: 10n ** 6n, precisionDelta: 10n ** 12n, priceUsd: 10n ** 8n }

/** Whole USD to a price. */
export const price = (usd: number): bigint => BigInt(Math.round(usd * 1e4)) * 10n ** 6n
export const usdc = (amount: number): bigint => BigInt(Math.round(amount * 1e6))
export const tokens = (amount: number): bigint => BigInt(Math.round(amount * 1e6)) * 10n ** 12n

export const LIQUIDATION: LiquidationParams = {
  maxLiqSpreadP: 500_000_000,
  startLiqThresholdP: 900_000_000_000,
  endLiqThresholdP: 750_000_000_000,
  startLeverage: 25_000,
  endLeverage: 60_000,
}

export const NO_DEPTH: DepthBook = { totalDepthUsd: 0n, sharesBps: [], offsetsPpm: [] }

/** Spread 0.04 %, fee 0.06 % on at least 1250 USD, no depth. */
export const LISTING: PairListing = {
  spreadP: 400_000_000n,
  feeP: 600_000_000n,
  liqFeeP: 100_000_000_000n,
  minPositionSizeUsd: 1_250n * 10n ** 18n,
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

/** No open interest, no skew depth, no funding, no borrowing; accumulators last updated at second 1000. */
export const QUIET_PAIR: PairState = {
  oiLongToken: 0n,
  oiShortToken: 0n,
  oiLongBeforeV10Collateral: 0n,
  oiShortBeforeV10Collateral: 0n,
  maxOi: 10n ** 18n,
  skewDepth: 0n,
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
    lastFundingRatePerSecondP: 0n,
    lastFundingUpdateTs: 1_000,
  },
  borrowingParams: { borrowingRatePerSecondP: 0 },
  borrowingData: { accBorrowingFeeP: 0n, lastBorrowingUpdateTs: 1_000 },
}

export const MARKET: Market = {
  listing: LISTING,
  pair: QUIET_PAIR,
  collateral: USDC,
  volume: { settings: { startTs: 0, windowsDuration: 60, windowsCount: 4 }, windows: new Map() },
  terms: ORDINARY_TERMS,
}

export const MOMENT: Moment = { timestampS: 1_000, blockNumber: 100 }

/** 100 USDC long at 10x, opened at oracle 60000. */
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
  openPrice: 600_120_000_000_000n,
  tp: 0n,
  sl: 0n,
  isCounterTrade: false,
  positionSizeToken: 16_663_333_999_866_693n,
}

export const POSITION: Position = {
  trade: TRADE,
  info: { collateralPriceUsd: 100_000_000, contractsVersion: ContractsVersion.V10, lastPosIncreaseBlock: 90 },
  liquidationParams: LIQUIDATION,
  feesData: {
    realizedTradingFeesCollateral: 750_000n,
    realizedPnlCollateral: 0n,
    initialAccFundingFeeP: 0n,
    initialAccBorrowingFeeP: 0n,
  },
  oldBorrowingFeeCollateral: 0n,
}
