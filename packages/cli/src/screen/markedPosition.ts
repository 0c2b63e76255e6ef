import { ShownNumber, type Decimal } from '@bezel/protocol/wire'
import type { Position, Price } from '@bezel/sdk'

/** A position valued at the newest mark. */
export interface MarkedPosition extends Position {
  readonly mark: string
  /** Profit in tokens of the collateral, as `unrealizedPnl` of a read. */
  readonly pnl: string
  /** The same in percent of the collateral. */
  readonly pnlPercent: string
}

/**
 * Values a position at a newer mark than it was told with, because the stream tells positions only when they change.
 * The price profit follows the mark by the Diamond's formula, skew included, and is never a loss of more than the
 * collateral; fees and what was realised stay as they were told. Rounds toward zero at 18 decimals.
 */
export function markPosition(position: Position, price: Price | undefined): MarkedPosition {
  const { markPrice, unrealizedPnl, unrealizedPnlPercent } = position
  const mark = price?.mark ?? markPrice
  const collateral = scaled(position.collateral)
  if (mark === markPrice || scaled(markPrice) === 0n || collateral === 0n)
    return { ...position, mark, pnl: unrealizedPnl, pnlPercent: unrealizedPnlPercent }
  const told = scaled(unrealizedPnl)
  const fees = scaled(position.fundingFee) + scaled(position.borrowingFee)
  const profitThen = told + fees - scaled(position.realized)
  const profit = larger(profitAt(position, profitThen, mark), -collateral)
  const pnl = told - profitThen + profit
  return { ...position, mark, pnl: shown(pnl), pnlPercent: shown((pnl * 100n * ShownNumber.one) / collateral) }
}

/**
 * Returns the price profit at another mark. Profit is notional x (price / entry - 1) for a long, and `profitThen` tells
 * price / entry at the old mark; the new one is that times new mark / old mark.
 */
function profitAt({ side, collateral, leverage, markPrice }: Position, profitThen: bigint, mark: string): bigint {
  const [before, now] = [scaled(markPrice), scaled(mark)]
  const notional = (scaled(collateral) * scaled(leverage)) / ShownNumber.one
  const direction = side === 'long' ? 1n : -1n
  return (profitThen * now + direction * notional * (now - before)) / before
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function scaled(text: string): bigint {
  return ShownNumber.parseTruncated(text as Decimal)
}

function shown(value: bigint): Decimal {
  return ShownNumber.format(ShownNumber.of(value))
}
