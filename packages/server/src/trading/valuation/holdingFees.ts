import { CollateralAmount, ContractsVersion, HUNDRED_PERCENT, TradeType, type Price } from '@bezel/protocol'
import type { CollateralState, Moment, PairState, ValuedPosition, Trade } from './chainState.ts'
import { positionSizeCollateral } from './collateralAmounts.ts'
import { pendingFunding } from './funding.ts'
import { oldBorrowingFeeCollateral } from './oldBorrowing.ts'
import { realizedCollateral } from './profit.ts'

// The formulas of contracts/src/rules/HoldingFees.sol.

/** The pending fees of a position; positive when the trader pays (getTradePendingHoldingFeesCollateral). */
export interface HoldingFees {
  readonly fundingFeeCollateral: CollateralAmount
  readonly borrowingFeeCollateral: CollateralAmount
  /** Borrowing fee of the first generation. */
  readonly oldBorrowingFeeCollateral: CollateralAmount
  readonly totalFeeCollateral: CollateralAmount
}

const NO_HOLDING_FEES: HoldingFees = {
  fundingFeeCollateral: CollateralAmount.zero,
  borrowingFeeCollateral: CollateralAmount.zero,
  oldBorrowingFeeCollateral: CollateralAmount.zero,
  totalFeeCollateral: CollateralAmount.zero,
}

/** Returns the fees that a position owes for being held, at a price and in a block. Resting orders owe nothing. */
export function holdingFees(
  position: ValuedPosition,
  pair: PairState,
  collateral: CollateralState,
  price: Price,
  { timestampS, blockNumber }: Moment,
): HoldingFees {
  const { trade, feesData, oldBorrowing } = position
  if (trade.openPrice === 0n || trade.tradeType !== TradeType.TRADE) return NO_HOLDING_FEES
  const fundingFeeCollateral = fundingFee(position, pair, collateral, price, timestampS)
  const borrowedP = pendingBorrowingP(pair, price, timestampS) - feesData.initialAccBorrowingFeeP
  const borrowingFeeCollateral = feeOfAccumulated(trade, borrowedP)
  const oldFeeCollateral =
    oldBorrowing === null
      ? CollateralAmount.zero
      : oldBorrowingFeeCollateral(trade, oldBorrowing, { pair, collateral, price, blockNumber })
  const total = fundingFeeCollateral + borrowingFeeCollateral + oldFeeCollateral
  return {
    fundingFeeCollateral,
    borrowingFeeCollateral,
    oldBorrowingFeeCollateral: oldFeeCollateral,
    totalFeeCollateral: CollateralAmount.of(total),
  }
}

/** Returns the funding fee. Trades from before v10 neither pay nor get funding. */
function fundingFee(
  { trade, info, feesData }: ValuedPosition,
  pair: PairState,
  collateral: CollateralState,
  price: Price,
  timestampS: number,
): CollateralAmount {
  if (info.contractsVersion < ContractsVersion.V10) return CollateralAmount.zero
  const { accFundingFeeLongP, accFundingFeeShortP } = pendingFunding(pair, collateral, price, timestampS)
  return feeOfAccumulated(
    trade,
    (trade.long ? accFundingFeeLongP : accFundingFeeShortP) - feesData.initialAccFundingFeeP,
  )
}

/**
 * Returns a pair's borrowing (v2) accumulator at a time, 1e20 (getPairPendingAccBorrowingFees). Nothing accrues before
 * its first update.
 */
export function pendingBorrowingP(
  { borrowingParams, borrowingData }: Pick<PairState, 'borrowingParams' | 'borrowingData'>,
  price: Price,
  timestampS: number,
): bigint {
  const { accBorrowingFeeP, lastBorrowingUpdateTs } = borrowingData
  const elapsedS = timestampS - lastBorrowingUpdateTs
  if (lastBorrowingUpdateTs === 0 || elapsedS <= 0) return accBorrowingFeeP
  return accBorrowingFeeP + BigInt(borrowingParams.borrowingRatePerSecondP) * BigInt(elapsedS) * price
}

/**
 * Returns S x (acc - acc0) / Po, with accumulators at 1e20, truncated toward zero: a trader who earns gets the smaller
 * amount.
 */
function feeOfAccumulated(trade: Trade, accumulatedP: bigint): CollateralAmount {
  return CollateralAmount.of((positionSizeCollateral(trade) * accumulatedP) / trade.openPrice / HUNDRED_PERCENT)
}

/**
 * Returns the fees that lower a position's value besides its closing fee: pending holding fees less what it has
 * realised.
 */
export function carriedFeesCollateral(
  position: ValuedPosition,
  pair: PairState,
  collateral: CollateralState,
  price: Price,
  moment: Moment,
): CollateralAmount {
  const pending = holdingFees(position, pair, collateral, price, moment)
  return CollateralAmount.of(pending.totalFeeCollateral - realizedCollateral(position.feesData))
}
