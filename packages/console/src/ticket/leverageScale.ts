import type { MarketRecord } from '@bezel/protocol/wire'
import { decimal, roundPrice } from '@bezel/sdk'

// The slider of the leverage counts in even ratios, so that each step is as many percent as any other: from 1.1 to 200
// the half of the way is 15, not 100. Places of a slider are pixels, so they are plain numbers.

type Bounds = Pick<MarketRecord, 'minLeverage' | 'maxLeverage'>

/** Number of steps of the slider. */
export const SLIDER_PLACES = 100

const USUAL = [2, 5, 10, 25, 50, 100, 150, 250, 500, 1_000] as const

/** Greatest number of marks below the slider, which have room on a phone. */
const MAX_MARKS = 6

/** Returns the place of a leverage on the slider; what is out of bounds is at its end. */
export function placeOfLeverage(leverage: string, { minLeverage, maxLeverage }: Bounds): number {
  const [value, min, max] = [Number(leverage), Number(minLeverage), Number(maxLeverage)]
  if (!(value > min) || max <= min) return 0
  return Math.min(SLIDER_PLACES, Math.round((Math.log(value / min) / Math.log(max / min)) * SLIDER_PLACES))
}

/** Returns the leverage at a place of the slider: whole from 10 on, with one decimal below, and within the bounds. */
export function leverageOfPlace(place: number, { minLeverage, maxLeverage }: Bounds): string {
  if (place <= 0) return minLeverage
  if (place >= SLIDER_PLACES) return maxLeverage
  const [min, max] = [Number(minLeverage), Number(maxLeverage)]
  const value = min * (max / min) ** (place / SLIDER_PLACES)
  const rounded = roundPrice({ pricePrecision: value >= 10 ? 0 : 1 }, value)
  if (decimal.compare(rounded, minLeverage) < 0) return minLeverage
  return decimal.compare(rounded, maxLeverage) > 0 ? maxLeverage : rounded
}

/** Returns the marks of the slider: usual leverages within the bounds, and the greatest one. */
export function leverageMarks(bounds: Bounds): { readonly value: number; readonly label: string }[] {
  const { minLeverage, maxLeverage } = bounds
  const within = USUAL.map(String).filter(
    (usual) => decimal.compare(usual, minLeverage) >= 0 && decimal.compare(usual, maxLeverage) < 0,
  )
  const stride = Math.ceil(within.length / (MAX_MARKS - 1))
  const chosen = within.filter((_, place) => place % stride === 0)
  return [...chosen, maxLeverage].map((label) => ({ value: placeOfLeverage(label, bounds), label: `${label}×` }))
}
