import type { Brand } from './identifiers.ts'

export const DECIMAL_PATTERN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/**
 * Longest decimal accepted from outside: more than any uint128 with 18 decimals needs, short enough to cost nothing.
 */
export const MAX_DECIMAL_CHARS = 40

/**
 * A number as text in its one canonical form: no exponent, no trailing zeros, no `-0`. Equal numbers are equal strings.
 */
export type Decimal = Brand<string, 'Decimal'>

/**
 * Parses text from outside; `undefined` when malformed or longer than `MAX_DECIMAL_CHARS`. `"1.50"` becomes `"1.5"`.
 */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > MAX_DECIMAL_CHARS || !DECIMAL_PATTERN.test(text)) return undefined
  const trimmed = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return (trimmed === '-0' ? '0' : trimmed) as Decimal
}

/** Counts the digits after the point. */
export function decimalPlaces(value: Decimal): number {
  const point = value.indexOf('.')
  return point === -1 ? 0 : value.length - point - 1
}

/**
 * Returns `value` x 10^decimals, exactly; `undefined` when it has more than `decimals` places, so that nothing is
 * rounded silently.
 */
export function scaleDecimal(value: Decimal, decimals: number): bigint | undefined {
  const missing = decimals - decimalPlaces(value)
  if (missing < 0) return undefined
  return BigInt(value.replace('.', '') + '0'.repeat(missing))
}

/** Returns `value` x 10^decimals, with further places cut off toward zero. */
export function scaleDecimalTruncated(value: Decimal, decimals: number): bigint {
  const excess = decimalPlaces(value) - decimals
  if (excess <= 0) return BigInt(value.replace('.', '') + '0'.repeat(-excess))
  return BigInt(value.replace('.', '')) / 10n ** BigInt(excess)
}

/** Formats `scaled` / 10^decimals exactly. Every on-chain amount goes this way to the wire. */
export function formatDecimal(scaled: bigint, decimals: number): Decimal {
  const sign = scaled < 0n ? '-' : ''
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}` as Decimal
}

/**
 * Rounds a decimal for people to `places` decimals, half away from zero. One below 1 keeps `digits` significant digits
 * where that shows more of it, so that only zero becomes 0. Never compute with the result.
 */
export function roundDecimal(value: string, places: number, digits: number): Decimal {
  const [whole = '', fraction = ''] = value.replace('-', '').split('.')
  const zeros = /^0*/.exec(fraction)![0].length
  const shown = Math.min(fraction.length, whole === '0' ? Math.max(places, zeros + digits) : places)
  const step = 10n ** BigInt(fraction.length - shown)
  const units = BigInt(value.replace('.', ''))
  return formatDecimal((units + (units < 0n ? -step : step) / 2n) / step, shown)
}

const FEED_NUMBER_PATTERN = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/** Largest exponent of a price. Without a bound, `1e999` would become a kilobyte of zeros. */
const MAX_ABS_EXPONENT = 40

/**
 * Parses a number of the price feed (JSON, so `1.2e-7` is possible). A `number` is taken as the shortest text that
 * reads back as the same double. `undefined` when it is not finite, or too long for a decimal.
 */
export function parseFeedNumber(value: number | string): Decimal | undefined {
  const match = FEED_NUMBER_PATTERN.exec(String(value))
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  if (Math.abs(Number(exponent)) > MAX_ABS_EXPONENT) return undefined
  return parseDecimal(sign + movePoint(whole, fraction, Number(exponent)))
}

function movePoint(whole: string, fraction: string, exponent: number): string {
  const digits = whole + fraction
  const point = whole.length + exponent
  const padded = point < 1 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const newWhole = padded.slice(0, Math.max(point, 1)).replace(/^0+(?=\d)/, '')
  const newFraction = padded.slice(Math.max(point, 1)).replace(/0+$/, '')
  return newFraction === '' ? newWhole : `${newWhole}.${newFraction}`
}
