import { ContractsVersion, TradeType } from '@bezel/protocol'
import { positionSizeCollateral } from './collateralAmounts.ts'
import type { CollateralState, PairState, Position, Trade } from './chainState.ts'
import { pendingBorrowingP } from './pendingBorrowing.ts'
import { pendingFunding } from './pendingFunding.ts'
import { realizedCollateral } from './profit.ts'
import { HUNDRED_PERCENT } from './scales.ts'

// As contracts/src/rules/HoldingFees.sol computes it.

/** Pending, in collateral; positive is paid by the trader. getTradePendingHoldingFeesCollateral. */
export interface HoldingFees {
  readonly fundingFeeCollateral: bigint
  readonly borrowingFeeCollateral: bigint
  readonly oldBorrowingFeeCollateral: bigint
  readonly totalFeeCollateral: bigint
}

const NO_HOLDING_FEES: HoldingFees = {
  fundingFeeCollateral: 0n,
  borrowingFeeCollateral: 0n,
  oldBorrowingFeeCollateral: 0n,
  totalFeeCollateral: 0n,
}

/** What a position owes for being held, at `price` (1e10) and that time. Resting orders owe nothing. */
export function holdingFees(
  position: Position,
  pair: PairState,
  collateral: CollateralState,
  price: bigint,
  timestampS: number,
): HoldingFees {
  const { trade, feesData, oldBorrowingFeeCollateral } = position
  if (trade.openPrice === 0n || trade.tradeType !== TradeType.TRADE) return NO_HOLDING_FEES
  const fundingFeeCollateral = fundingFee(position, pair, collateral, price, timestampS)
  const borrowedP = pendingBorrowingP(pair, price, timestampS) - feesData.initialAccBorrowingFeeP
  const borrowingFeeCollateral = feeOfAccumulated(trade, borrowedP)
  return {
    fundingFeeCollateral,
    borrowingFeeCollateral,
    oldBorrowingFeeCollateral,
    totalFeeCollateral: fundingFeeCollateral + borrowingFeeCollateral + oldBorrowingFeeCollateral,
  }
}

/** Funding came with v10: older trades neither pay nor get it. */
function fundingFee(
  { trade, info, feesData }: Position,
  pair: PairState,
  collateral: CollateralState,
  price: bigint,
  timestampS: number,
): bigint {
  if (info.contractsVersion < ContractsVersion.V10) return 0n
  const { accFundingFeeLongP, accFundingFeeShortP } = pendingFunding(pair, collateral, price, timestampS)
  return feeOfAccumulated(
    trade,
    (trade.long ? accFundingFeeLongP : accFundingFeeShortP) - feesData.initialAccFundingFeeP,
  )
}

/** S x (acc - acc0) / Po, accumulators 1e20, truncated toward zero: a trader who earns gets the smaller amount. */
function feeOfAccumulated(trade: Trade, accumulatedP: bigint): bigint {
  return (positionSizeCollateral(trade) * accumulatedP) / trade.openPrice / HUNDRED_PERCENT
}

/** What lowers a position's value besides its closing fee: pending holding fees less what it has realised. */
export function carriedFeesCollateral(
  position: Position,
  pair: PairState,
  collateral: CollateralState,
  price: bigint,
  timestampS: number,
): bigint {
  const pending = holdingFees(position, pair, collateral, price, timestampS)
  return pending.totalFeeCollateral - realizedCollateral(position.feesData)
}
