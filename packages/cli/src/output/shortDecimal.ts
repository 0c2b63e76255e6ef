import { formatDecimal, scaleDecimalTruncated, type Decimal } from '@bezel/protocol'

/** Longer than any amount anybody has: the sign of an unlimited allowance. */
const UNLIMITED_DIGITS = 30

/** A number for people: no more than `places` behind the point, cut toward zero. `--json` has all of them. */
export function shortDecimal(text: string, places: number): string {
  if (text.split('.')[0]!.length > UNLIMITED_DIGITS) return 'unlimited'
  return formatDecimal(scaleDecimalTruncated(text as Decimal, places), places)
}
