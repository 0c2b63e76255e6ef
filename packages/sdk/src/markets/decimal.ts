import {
  decimalPlaces,
  formatDecimal,
  parseDecimal,
  parseFeedNumber,
  scaleDecimal,
  type Decimal,
  type MarketRecord,
} from '@bezel/protocol/wire'
import { BezelConfigError } from '../errors/bezelError.ts'

/** Arithmetic on decimals as the interface writes them. Every result is exact and canonical: no digit is lost. */
export const decimal = {
  /** Returns a + b, exactly. */
  add: (a: string, b: string): string => ofPair(a, b, (x, y, places) => formatDecimal(x + y, places)),
  /** Returns a - b, exactly. */
  sub: (a: string, b: string): string => ofPair(a, b, (x, y, places) => formatDecimal(x - y, places)),
  /** Returns a x b, exactly. */
  mul: (a: string, b: string): string => ofPair(a, b, (x, y, places) => formatDecimal(x * y, 2 * places)),
  /** Returns -1 when a < b, 0 when they are equal, 1 when a > b. Equal numbers may be written differently. */
  compare: (a: string, b: string): -1 | 0 | 1 => ofPair(a, b, (x, y) => (x < y ? -1 : x > y ? 1 : 0)),
} as const

/**
 * Returns a price with as many decimals as the market accepts: the nearest one, and of two equally near ones that
 * farther from zero. Takes a number too, as the shortest text that reads back as it.
 */
export function roundPrice({ pricePrecision }: Pick<MarketRecord, 'pricePrecision'>, price: string | number): string {
  const [value, places] = integerOf(price)
  if (places <= pricePrecision) return formatDecimal(value, places)
  const step = 10n ** BigInt(places - pricePrecision)
  const half = value < 0n ? -step / 2n : step / 2n
  return formatDecimal((value + half) / step, pricePrecision)
}

/**
 * Returns a size with as many decimals as the market accepts: the nearest one toward zero, so that never more is traded
 * than was said. Takes a number too, as the shortest text that reads back as it.
 */
export function roundSize({ sizePrecision }: Pick<MarketRecord, 'sizePrecision'>, size: string | number): string {
  const [value, places] = integerOf(size)
  if (places <= sizePrecision) return formatDecimal(value, places)
  return formatDecimal(value / 10n ** BigInt(places - sizePrecision), sizePrecision)
}

/** Calls a function with two decimals as integers of the same number of places. */
function ofPair<Result>(a: string, b: string, of: (x: bigint, y: bigint, places: number) => Result): Result {
  const [first, second] = [read(a), read(b)]
  const places = Math.max(decimalPlaces(first), decimalPlaces(second))
  return of(scaleDecimal(first, places)!, scaleDecimal(second, places)!, places)
}

/** Returns a number as an integer and its places after the point. */
function integerOf(number: string | number): readonly [value: bigint, places: number] {
  const value = read(number)
  const places = decimalPlaces(value)
  return [scaleDecimal(value, places)!, places]
}

function read(number: string | number): Decimal {
  const value = typeof number === 'number' ? parseFeedNumber(number) : parseDecimal(number)
  if (value !== undefined) return value
  throw new BezelConfigError('BAD_AMOUNT', `${JSON.stringify(number)} is no decimal number, such as "0.05".`)
}
