import { Fraction, HUNDRED_PERCENT, Leverage, parseDecimal, PercentP, Price, type Side } from '@bezel/protocol/wire'
import { roundPrice, type MarketRecord } from '@bezel/sdk'
import type { StopDraft } from './draft.ts'

// Percent of a stop is the gain or loss in percent of the collateral, before fees: the move of the price times the
// leverage. The ticket says so, and shows the price and the move of the price beside it.

/** A take profit or a stop loss. */
export type StopKind = 'tp' | 'sl'

/** The facts that turn percent into a price. */
export interface StopFacts {
  readonly side: Side
  /** Price at which the position is expected to be opened. */
  readonly entry: string
  readonly leverage: string
  readonly market: Pick<MarketRecord, 'pricePrecision'>
}

/** A stop in all three ways to say it. */
export interface StopValue {
  /** Price, rounded to what the market takes. */
  readonly price: string
  /** Gain or loss as a fraction of the collateral; a loss is negative. */
  readonly gainRate: string
  /** Move of the price from the entry as a fraction; a fall is negative. */
  readonly moveRate: string
}

/** Returns true for a stop that is above the price of its order. */
export function isAbove(kind: StopKind, side: Side): boolean {
  return (kind === 'tp') === (side === 'long')
}

/** Returns a stop in all ways to say it; null while nothing is typed, or nothing that is a number. */
export function stopValue(kind: StopKind, { by, value }: StopDraft, facts: StopFacts): StopValue | null {
  const typed = parseDecimal(value.replace(/\.$/, ''))
  if (typed === undefined || typed.startsWith('-') || typed === '0') return null
  const price = by === 'price' ? typed : priceOfPercent(kind, typed, facts)
  return { price, ...ratesOf(price, facts) }
}

/** Returns the price at which the position has gained, or for a stop loss lost, a percentage of its collateral. */
export function priceOfPercent(kind: StopKind, percent: string, { side, entry, leverage, market }: StopFacts): string {
  const [open, factor] = [unitsOf(entry, Price), unitsOf(leverage, Leverage)]
  if (factor === 0n) return entry
  const move = (open * unitsOf(percent, PercentP) * Leverage.one) / factor / HUNDRED_PERCENT
  const price = isAbove(kind, side) ? open + move : open - move
  return roundPrice(market, Price.format(Price.of(price > 0n ? price : 0n)))
}

/** Returns what a price means for a position: the gain on its collateral, and the move of the price. */
function ratesOf(price: string, { side, entry, leverage }: StopFacts): Pick<StopValue, 'gainRate' | 'moveRate'> {
  const open = unitsOf(entry, Price)
  if (open === 0n) return { gainRate: '0', moveRate: '0' }
  const move = ((unitsOf(price, Price) - open) * HUNDRED_PERCENT) / open
  const gain = (move * unitsOf(leverage, Leverage)) / Leverage.one
  return {
    gainRate: Fraction.format(Fraction.of(side === 'long' ? gain : -gain)),
    moveRate: Fraction.format(Fraction.of(move)),
  }
}

/** Returns the draft of a stop said in the other way, so that nothing is lost when the trader changes the unit. */
export function restated(kind: StopKind, draft: StopDraft, by: StopDraft['by'], facts: StopFacts | null): StopDraft {
  const value = facts === null ? null : stopValue(kind, draft, facts)
  if (value === null || by === draft.by) return { by, value: '' }
  if (by === 'price') return { by, value: value.price }
  const percent = (value.gainRate.startsWith('-') ? value.gainRate.slice(1) : value.gainRate).replace(/^-/, '')
  const units = unitsOf(percent, Fraction)
  return { by, value: roundPrice({ pricePrecision: 2 }, PercentP.format(PercentP.of(units))) }
}

function unitsOf(text: string, scale: { readonly parseTruncated: (value: never) => bigint }): bigint {
  const value = parseDecimal(text)
  return value === undefined ? 0n : scale.parseTruncated(value as never)
}
