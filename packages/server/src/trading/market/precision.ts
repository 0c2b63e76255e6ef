/** How many decimals a market takes. */
export interface Precision {
  readonly pricePrecision: number
  readonly sizePrecision: number
}

const PRICE_DECIMALS = 10

/**
 * From the reference price (1e10, above zero): six digits of a price, at least two and at most ten decimals; sizes of about a tenth of a USD
 * to one USD. With n = floor(log10 p): `clamp(5 - n, 2, 10)` and `clamp(n + 1, 0, 8)`.
 */
export function precisionOf(referencePrice: bigint): Precision {
  if (referencePrice <= 0n) throw new RangeError('a reference price is above zero')
  const magnitude = floorLog10(referencePrice) - PRICE_DECIMALS
  return { pricePrecision: clamp(5 - magnitude, 2, 10), sizePrecision: clamp(magnitude + 1, 0, 8) }
}

/** By its digits: Math.log10 is off by one at some powers of ten. */
function floorLog10(value: bigint): number {
  return value.toString().length - 1
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}
