import {
  CollateralAmount,
  HUNDRED_PERCENT,
  Leverage,
  max,
  min,
  PercentP,
  WholeCollateral,
  type Price,
} from '@bezel/protocol'
import type {
  BorrowingData,
  BorrowingFeePerBlockCap,
  BorrowingInitialAccFees,
  BorrowingPairGroup,
  CollateralState,
  PairState,
  Trade,
} from './chainState.ts'
import { sideOpenInterest } from './openInterest.ts'

// Borrowing of the first generation, with the formulas of contracts/src/rules/BorrowingV1.sol: a fee per block that
// grows with the net open interest. A pair has one, and so may the group of pairs that it is in; a trade pays the
// larger of the two for each stay of its pair in a group.

/** The whole of a cap, whose scale is 1e3 per percent. */
const WHOLE_CAP = 100_000n

/** Caps of a group, which has none. */
const NO_CAP: BorrowingFeePerBlockCap = { minP: 0, maxP: 0 }

/** Accumulated fees of both sides, 1e10 per percent. */
export interface OldBorrowingFees {
  readonly longP: bigint
  readonly shortP: bigint
}

/** Everything that determines a trade's fee besides the trade. */
interface Surroundings {
  readonly pair: PairState
  readonly collateral: CollateralState
  readonly price: Price
  readonly blockNumber: number
}

type BorrowingTrade = Pick<Trade, 'long' | 'collateralAmount' | 'leverage'>

/**
 * Returns the fee of a trade since it was opened or last settled, truncated (getTradeBorrowingFee). Never negative: the
 * Diamond reverts where an accumulator is below the one that the trade started from, which happens here when the pair
 * was read before the trade.
 */
export function oldBorrowingFeeCollateral(
  trade: BorrowingTrade,
  initial: BorrowingInitialAccFees,
  around: Surroundings,
): CollateralAmount {
  const owedP = owedBeforeGroupsP(trade.long, initial, around) + owedInGroupsP(trade.long, initial, around)
  const fee = (trade.collateralAmount * BigInt(trade.leverage) * owedP) / Leverage.one / HUNDRED_PERCENT
  return CollateralAmount.of(max(fee, 0n))
}

/** Returns the fee of the time before the pair was in any group, during which the pair's own fee counts. */
function owedBeforeGroupsP(long: boolean, initial: BorrowingInitialAccFees, around: Surroundings): bigint {
  const [first] = around.pair.oldBorrowing.pairGroups
  if (first === undefined) return sideOf(long, pendingPairFees(around)) - initial.accPairFee
  if (first.block <= initial.block) return 0n
  return sideOf(long, pairFeesAt(first)) - initial.accPairFee
}

/** Returns the sum of the larger fee, pair or group, over the stays in groups that the trade has lived through. */
function owedInGroupsP(long: boolean, initial: BorrowingInitialAccFees, around: Surroundings): bigint {
  const stays = around.pair.oldBorrowing.pairGroups
  let owedP = 0n
  for (let i = stays.length - 1; i >= 0; i -= 1) {
    const stay = stays[i]!
    const next = stays[i + 1]
    const isBeforeTrade = stay.block < initial.block
    // A stay that had ended when the trade began costs it nothing.
    if (isBeforeTrade && next !== undefined && next.block <= initial.block) break
    const end = next === undefined ? pendingFees(around) : feesAtEnd(next)
    const group = sideOf(long, end.group) - (isBeforeTrade ? initial.accGroupFee : sideOf(long, groupFeesAt(stay)))
    const pair = sideOf(long, end.pair) - (isBeforeTrade ? initial.accPairFee : sideOf(long, pairFeesAt(stay)))
    owedP += max(group, pair)
    if (isBeforeTrade) break
  }
  return owedP
}

interface PairAndGroupFees {
  readonly pair: OldBorrowingFees
  readonly group: OldBorrowingFees
}

function pendingFees(around: Surroundings): PairAndGroupFees {
  return { pair: pendingPairFees(around), group: pendingGroupFees(around) }
}

/** Returns the fees at the end of a stay, which the next one recorded when it began. */
function feesAtEnd(next: BorrowingPairGroup): PairAndGroupFees {
  return {
    pair: pairFeesAt(next),
    group: { longP: next.prevGroupAccFeeLong, shortP: next.prevGroupAccFeeShort },
  }
}

/** Returns the pair's fees when a stay began. */
function pairFeesAt({ pairAccFeeLong, pairAccFeeShort }: BorrowingPairGroup): OldBorrowingFees {
  return { longP: pairAccFeeLong, shortP: pairAccFeeShort }
}

/** Returns the group's fees when a stay began. */
function groupFeesAt({ initialAccFeeLong, initialAccFeeShort }: BorrowingPairGroup): OldBorrowingFees {
  return { longP: initialAccFeeLong, shortP: initialAccFeeShort }
}

function sideOf(long: boolean, { longP, shortP }: OldBorrowingFees): bigint {
  return long ? longP : shortP
}

/**
 * Returns the fee of a number of blocks at the present open interest, for the side that pays more: its larger one of
 * pair and group. Truncated.
 */
export function oldBorrowingOfBlocksP(around: Omit<Surroundings, 'blockNumber'>, blocks: number): PercentP {
  const [pair, group] = [pairFeesOfBlocks(around, blocks), groupFeesOfBlocks(around, blocks)]
  return PercentP.of([pair.longP, pair.shortP, group.longP, group.shortP].reduce(max<bigint>))
}

/** Returns the pair's accumulated fees as of a block and at a price (getBorrowingPairPendingAccFees). */
export function pendingPairFees(around: Surroundings): OldBorrowingFees {
  const { data } = around.pair.oldBorrowing
  return accrued(data, pairFeesOfBlocks(around, blocksSince(data, around)))
}

/** Returns the accumulated fees of the pair's group as of a block (getBorrowingGroupPendingAccFees). */
export function pendingGroupFees(around: Omit<Surroundings, 'price'>): OldBorrowingFees {
  const { group } = around.pair.oldBorrowing
  if (group === undefined) return NO_FEES
  return accrued(group.data, groupFeesOfBlocks(around, blocksSince(group.data, around)))
}

function blocksSince(
  { accLastUpdatedBlock }: BorrowingData,
  { blockNumber }: Pick<Surroundings, 'blockNumber'>,
): number {
  return Math.max(0, blockNumber - accLastUpdatedBlock)
}

function accrued({ accFeeLong, accFeeShort }: BorrowingData, { longP, shortP }: OldBorrowingFees): OldBorrowingFees {
  return { longP: accFeeLong + longP, shortP: accFeeShort + shortP }
}

function pairFeesOfBlocks(
  { pair, collateral, price }: Omit<Surroundings, 'blockNumber'>,
  blocks: number,
): OldBorrowingFees {
  const { data, feePerBlockCap } = pair.oldBorrowing
  const { long, short } = sideOpenInterest({ pair, collateral }, price)
  return feesOfBlocks(blocks, data, { long, short, max: pair.maxOi }, feePerBlockCap, collateral)
}

function groupFeesOfBlocks(
  { pair, collateral }: Pick<Surroundings, 'pair' | 'collateral'>,
  blocks: number,
): OldBorrowingFees {
  const { group } = pair.oldBorrowing
  if (group === undefined) return NO_FEES
  const toCollateral = (whole: WholeCollateral): CollateralAmount =>
    CollateralAmount.of((whole * collateral.precision) / WholeCollateral.one)
  const interest = { long: toCollateral(group.oi.long), short: toCollateral(group.oi.short), max: group.oi.max }
  return feesOfBlocks(blocks, group.data, interest, NO_CAP, collateral)
}

const NO_FEES: OldBorrowingFees = { longP: 0n, shortP: 0n }

interface BorrowedInterest {
  readonly long: CollateralAmount
  readonly short: CollateralAmount
  readonly max: WholeCollateral
}

/**
 * Returns what a number of blocks adds to the accumulators. The heavier side pays for the net open interest between its
 * two caps, the other the lower cap; a side without open interest pays nothing.
 */
function feesOfBlocks(
  blocks: number,
  data: BorrowingData,
  { long, short, max: maxOi }: BorrowedInterest,
  { minP, maxP }: BorrowingFeePerBlockCap,
  { precision }: CollateralState,
): OldBorrowingFees {
  const delta = (netOi: bigint): bigint => feeOfBlocks(BigInt(blocks), data, netOi, maxOi, precision)
  const areMoreShorts = long < short
  const net = areMoreShorts ? short - long : long - short
  const most = (maxOi * precision) / WholeCollateral.one
  const least = (most * BigInt(minP)) / WHOLE_CAP
  const cap = maxP > 0 ? (most * BigInt(maxP)) / WHOLE_CAP : most
  const lighter = delta(least)
  const heavier = net > least ? delta(min(net, cap)) : lighter
  return {
    longP: long === 0n ? 0n : areMoreShorts ? lighter : heavier,
    shortP: short === 0n ? 0n : areMoreShorts ? heavier : lighter,
  }
}

/** Returns blocks x fee x (net / max)^exponent, 1e10 per percent, truncated; the ratio is truncated before. */
function feeOfBlocks(
  blocks: bigint,
  { feePerBlock, feeExponent }: BorrowingData,
  netOi: bigint,
  maxOi: WholeCollateral,
  precision: bigint,
): bigint {
  if (maxOi === 0n || feeExponent === 0) return 0n
  const exponent = BigInt(feeExponent)
  const ratio = (netOi * WholeCollateral.one) / maxOi
  return (blocks * BigInt(feePerBlock) * ratio ** exponent) / precision ** exponent
}
