import { decimal, roundPrice } from '@bezel/sdk'
import type { TriggerMark } from './priceLines.ts'

/** The market as far as prices of it are rounded. */
export interface PricedMarket {
  readonly pricePrecision: number
}

/** The scale of the chart: how prices and pixels belong together. */
export interface PriceScale {
  /** Height of the pane in pixels. */
  readonly height: number
  /** Returns the price at a distance from the top; `null` while nothing is drawn. */
  priceAt(y: number): number | null
  /** Returns the distance of a price from the top; `null` while nothing is drawn. */
  yOf(price: number): number | null
}

/** The place of a handle: beside its price, or at the edge that its price is beyond. */
export interface HandlePlace {
  readonly y: number
  readonly beyond: 'above' | 'below' | null
}

/** A trigger while it is being moved, and until its change was sent or given up. */
export interface TriggerDraft {
  /** The `id` of its mark. */
  readonly id: string
  readonly trigger: 'tp' | 'sl'
  readonly price: string
  /** True once it was proposed: the dialog is open, and keys and pointer leave it alone. */
  readonly isProposed: boolean
}

/** Way in pixels below which a press is no drag. */
export const MIN_DRAG_PX = 4

/** Distance of handles from the edges, half their height. */
const EDGE_PX = 14

/** Height of a handle with its gap: handles nearer than this would cover one another. */
const HANDLE_PX = 26

/** Returns the place of a handle for a price; `null` while nothing is drawn. */
export function handlePlace(price: string, { height, yOf }: PriceScale): HandlePlace | null {
  const y = yOf(Number(price))
  if (y === null || height <= 2 * EDGE_PX) return null
  if (y < EDGE_PX) return { y: EDGE_PX, beyond: y < 0 ? 'above' : null }
  if (y > height - EDGE_PX) return { y: height - EDGE_PX, beyond: y > height ? 'below' : null }
  return { y, beyond: null }
}

/**
 * Moves handles apart that would cover one another, in the order of their places, and keeps them inside the pane.
 * Returns the places in the order of the argument.
 */
export function spreadHandles(places: readonly number[], height: number): readonly number[] {
  const order = places.map((y, index) => ({ y, index })).toSorted((a, b) => a.y - b.y || a.index - b.index)
  let least = EDGE_PX
  for (const place of order) {
    place.y = Math.max(place.y, least)
    least = place.y + HANDLE_PX
  }
  let most = height - EDGE_PX
  for (const place of order.toReversed()) {
    place.y = Math.min(place.y, most)
    most = place.y - HANDLE_PX
  }
  return order.toSorted((a, b) => a.index - b.index).map(({ y }) => y)
}

/**
 * Returns the place that a line is dragged to, for a way of the pointer. A line beyond an edge goes on from its own
 * place when it is dragged outward, and from the edge when it is pulled in.
 */
export function draggedY(price: string, way: number, scale: PriceScale): number | null {
  const [lineY, place] = [scale.yOf(Number(price)), handlePlace(price, scale)]
  if (lineY === null || place === null) return null
  const isInward = (place.beyond === 'above' && way > 0) || (place.beyond === 'below' && way < 0)
  return (isInward ? place.y : lineY) + way
}

/**
 * Returns the price at a place, rounded to what a pixel can tell apart; `null` where there is none. Places outside the
 * pane have prices too, so that a line can be dragged beyond what is seen.
 */
export function draggedPrice(y: number, scale: PriceScale, market: PricedMarket): string | null {
  const [price, below] = [scale.priceAt(y), scale.priceAt(y + 1)]
  if (price === null || below === null || price <= 0) return null
  const text = snapPrice(price, Math.abs(price - below), market)
  return decimal.compare(text, '0') === 1 ? text : null
}

/** Returns the start of a trigger that a position does not have yet: 1 % beyond entry and mark, on its side. */
export function firstTrigger(
  { trigger, side, entryPrice }: TriggerMark,
  mark: string | null,
  market: PricedMarket,
): string {
  const isAbove = isTriggerAbove(trigger, side)
  const other = mark ?? entryPrice
  const isEntryFarther = decimal.compare(entryPrice, other) === (isAbove ? 1 : -1)
  return roundPrice(market, decimal.mul(isEntryFarther ? entryPrice : other, isAbove ? '1.01' : '0.99'))
}

/**
 * Returns the price after an arrow key: a round step of about 0.05 % of the price, with Shift or the page keys ten
 * of them; `null` for other keys and where no price is left.
 */
export function steppedPrice(
  price: string,
  { key, shiftKey }: { readonly key: string; readonly shiftKey: boolean },
  market: PricedMarket,
): string | null {
  const direction = STEP_KEYS.get(key)
  if (direction === undefined) return null
  const count = shiftKey || key.startsWith('Page') ? '10' : '1'
  const way = decimal.mul(keyStep(price, market), count)
  const next = direction === 1 ? decimal.add(price, way) : decimal.sub(price, way)
  return decimal.compare(next, '0') === 1 ? roundPrice(market, next) : null
}

/** Returns the reason for which a trigger can't be where it is, in words; `null` when it can. */
export function triggerProblem(mark: string | null, price: string, { trigger, side }: TriggerMark): string | null {
  if (mark === null) return null
  const isAbove = isTriggerAbove(trigger, side)
  if (decimal.compare(price, mark) === (isAbove ? 1 : -1)) return null
  const name = trigger === 'tp' ? 'take profit' : 'stop loss'
  return `The ${name} of a ${side} must be ${isAbove ? 'above' : 'below'} the price.`
}

/** Returns the change from the entry to a price as a fraction, positive where the position gains. */
export function gainOf(price: string, { entryPrice, side }: TriggerMark): string {
  const entry = Number(entryPrice)
  const change = (Number(price) - entry) / entry
  return (side === 'long' ? change : -change).toFixed(6)
}

/** Returns true for a trigger that is reached by a rising price. */
function isTriggerAbove(trigger: 'tp' | 'sl', side: 'long' | 'short'): boolean {
  return (trigger === 'tp') === (side === 'long')
}

const STEP_KEYS: ReadonlyMap<string, 1 | -1> = new Map([
  ['ArrowUp', 1],
  ['ArrowRight', 1],
  ['PageUp', 1],
  ['ArrowDown', -1],
  ['ArrowLeft', -1],
  ['PageDown', -1],
])

/** Returns the step of an arrow key: 5 of the price's fourth digit, and at least the smallest step of the market. */
function keyStep(price: string, { pricePrecision }: PricedMarket): string {
  const magnitude = Math.floor(Math.log10(Number(price)))
  const places = 4 - magnitude
  if (places > pricePrecision) return powerOfTen(-pricePrecision)
  return decimal.mul('5', powerOfTen(-places))
}

/** Rounds a price to the power of ten that is not above what a pixel stands for. */
function snapPrice(price: number, perPixel: number, { pricePrecision }: PricedMarket): string {
  const places =
    perPixel > 0 ? Math.min(Math.max(-Math.floor(Math.log10(perPixel)), 0), pricePrecision) : pricePrecision
  return roundPrice({ pricePrecision: places }, price)
}

/** Returns a power of ten as a decimal. */
function powerOfTen(exponent: number): string {
  return exponent >= 0 ? `1${'0'.repeat(exponent)}` : `0.${'0'.repeat(-exponent - 1)}1`
}
