import { ShownNumber, parseDecimal, type Decimal } from '@bezel/protocol/wire'
import { decimal, type Position } from '@bezel/sdk'

/** The value of a position at a mark, in tokens of its collateral unless said otherwise. */
export interface Valuation {
  /** Mark that it is valued at, in the quote currency. */
  readonly mark: string
  /** Profit if it were closed at the mark, without the fee of the close. */
  readonly pnl: string
  /** The same as a fraction of the collateral: `0.05` is 5 %. */
  readonly pnlRate: string
  /** Collateral and profit together. Never below 0. */
  readonly worth: string
  /** Size at the mark, in the quote currency. */
  readonly notional: string
}

/**
 * Values a position at a newer mark than it was told with, because the stream tells positions only when they change.
 * The price profit follows the mark by the contracts' formula and is never a loss of more than the collateral; fees and
 * what was realised stay as they were told.
 */
export function valueAt(position: Position, mark: string): Valuation {
  const notional = decimal.mul(position.size, mark)
  const pnl = shown(pnlAt(position, mark))
  const collateral = scaled(position.collateral)
  const pnlRate = collateral === 0n ? '0' : shown((scaled(pnl) * ShownNumber.one) / collateral)
  const worth = decimal.add(position.collateral, pnl)
  return { mark, pnl, pnlRate, worth: worth.startsWith('-') ? '0' : worth, notional }
}

/**
 * Returns the profit at another mark. Profit is notional x (price / entry - 1) for a long; what was told gives
 * price / entry at the old mark, and the new one is that times new mark / old mark.
 */
function pnlAt(position: Position, mark: string): bigint {
  const { side, markPrice, unrealizedPnl, fundingFee, borrowingFee, realized } = position
  const told = scaled(unrealizedPnl)
  const [before, now, collateral] = [scaled(markPrice), scaled(mark), scaled(position.collateral)]
  if (before === now || before === 0n || collateral === 0n) return told
  const profitThen = told + scaled(fundingFee) + scaled(borrowingFee) - scaled(realized)
  const notional = (collateral * scaled(position.leverage)) / ShownNumber.one
  const direction = side === 'long' ? 1n : -1n
  const profit = (profitThen * now + direction * notional * (now - before)) / before
  return told - profitThen + (profit < -collateral ? -collateral : profit)
}

/**
 * Returns the distance from the mark to the liquidation price as a fraction of the mark: `0.1` when the price must move
 * by 10 % against the position. Zero once it is reached.
 */
export function liquidationDistance({ side, liquidationPrice }: Position, mark: string): string {
  const [now, limit] = [scaled(mark), scaled(liquidationPrice)]
  if (now === 0n) return '0'
  const gap = side === 'long' ? now - limit : limit - now
  return gap <= 0n ? '0' : shown((gap * ShownNumber.one) / now)
}

/** The sums over all positions of one collateral. */
export interface CollateralTotals {
  readonly collateralSymbol: string
  readonly positions: number
  readonly collateral: string
  readonly pnl: string
  readonly worth: string
}

/** Adds positions up for each collateral. `markOf` returns the newest mark of a market, if there is one. */
export function totalsOf(
  positions: readonly Position[],
  markOf: (market: string) => string | undefined,
): CollateralTotals[] {
  const totals = new Map<string, CollateralTotals>()
  for (const position of positions) {
    const { collateralSymbol, collateral } = position
    const { pnl, worth } = valueAt(position, markOf(position.market) ?? position.markPrice)
    const before = totals.get(collateralSymbol)
    totals.set(collateralSymbol, {
      collateralSymbol,
      positions: (before?.positions ?? 0) + 1,
      collateral: decimal.add(before?.collateral ?? '0', collateral),
      pnl: decimal.add(before?.pnl ?? '0', pnl),
      worth: decimal.add(before?.worth ?? '0', worth),
    })
  }
  return [...totals.values()].toSorted((a, b) => a.collateralSymbol.localeCompare(b.collateralSymbol))
}

function scaled(text: string): bigint {
  const value: Decimal | undefined = parseDecimal(text)
  return value === undefined ? 0n : ShownNumber.parseTruncated(value)
}

function shown(value: bigint): string {
  return ShownNumber.format(ShownNumber.of(value))
}
