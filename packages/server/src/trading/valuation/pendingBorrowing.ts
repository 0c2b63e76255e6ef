import type { PairState } from './chainState.ts'

// As contracts/src/rules/HoldingFees.sol computes it.

/** A pair's borrowing (v2) accumulator at a time, 1e20: getPairPendingAccBorrowingFees. Nothing accrues before its first update. */
export function pendingBorrowingP(
  { borrowingParams, borrowingData }: Pick<PairState, 'borrowingParams' | 'borrowingData'>,
  price: bigint,
  timestampS: number,
): bigint {
  const { accBorrowingFeeP, lastBorrowingUpdateTs } = borrowingData
  const elapsedS = timestampS - lastBorrowingUpdateTs
  if (lastBorrowingUpdateTs === 0 || elapsedS <= 0) return accBorrowingFeeP
  return accBorrowingFeeP + BigInt(borrowingParams.borrowingRatePerSecondP) * BigInt(elapsedS) * price
}
