import { abs, CollateralAmount, type FillAction } from '@bezel/protocol'
import { realizedCollateral } from '../valuation/profit.ts'
import type { PositionState } from './positionModel.ts'

// The books of a trader: how an entry of the history follows from tokens that moved and from the position's record.

/** Amounts of one entry that the events of the chain tell, in units of the collateral. */
export interface ToldAmounts {
  /** Price profit of the closed part. */
  readonly pnl: CollateralAmount
  readonly feeCollateral: CollateralAmount
  readonly fundingFee: CollateralAmount
  readonly borrowingFee: CollateralAmount
  /** Tokens that left the wallet. */
  readonly deposit: CollateralAmount
  /** Tokens that reached the wallet. */
  readonly payout: CollateralAmount
}

/** Amounts of one entry as the history shows them. */
export interface BookedAmounts extends ToldAmounts {
  readonly forfeited: CollateralAmount
  readonly netPnl: CollateralAmount
}

/** The book value of a position before and after an entry. */
export interface ValueChange {
  readonly before: CollateralAmount
  readonly after: CollateralAmount
}

/**
 * The most units by which the price profit that a close settles can differ from the one that its event tells. The
 * contracts round five times on the way, each time by less than a unit: the profit, the value, the net profit of the
 * part, and the two totals of the record.
 */
const MAX_ROUNDING_UNITS = 4n

/** Actions that settle a price profit. All others are exact. */
const CLOSES: ReadonlySet<FillAction> = new Set([
  'TradeClosedMarket',
  'TradeClosedLIQ',
  'TradeClosedSL',
  'TradeClosedTP',
  'TradePosSizeDecrease',
])

/** Returns the value of a position in the books: its collateral and what was realised on it; 0 unless it is open. */
export function bookValue(state: PositionState | undefined): CollateralAmount {
  if (state?.isOpen !== true) return CollateralAmount.zero
  return CollateralAmount.of(state.trade.collateralAmount + realizedCollateral(state.feesData))
}

/**
 * Returns the amounts of an entry. What the wallet and the position gained together is its `netPnl`, so over the whole
 * life of a position the entries add up to all payouts less all deposits, to the last unit. Units that the contracts'
 * rounding of a close shifted belong to the price profit; any other difference is `forfeited`.
 */
export function bookEntry(action: FillAction, told: ToldAmounts, { before, after }: ValueChange): BookedAmounts {
  const { pnl, feeCollateral, fundingFee, borrowingFee, deposit, payout } = told
  const netPnl = CollateralAmount.of(payout - deposit + after - before)
  const unexplained = pnl - feeCollateral - fundingFee - borrowingFee - netPnl
  const maxRounding = CLOSES.has(action) ? MAX_ROUNDING_UNITS : 0n
  if (abs(unexplained) > maxRounding) return { ...told, netPnl, forfeited: CollateralAmount.of(unexplained) }
  return { ...told, netPnl, pnl: CollateralAmount.of(pnl - unexplained), forfeited: CollateralAmount.zero }
}
