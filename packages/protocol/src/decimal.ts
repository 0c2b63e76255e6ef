import type { Brand } from './brand.ts'

export const DECIMAL_PATTERN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Longest decimal accepted from outside: more than any uint128 with 18 decimals needs, short enough to cost nothing. */
export const MAX_DECIMAL_CHARS = 40

/** A number as text in its one canonical form: no exponent, no trailing zeros, no `-0`. Equal numbers are equal strings. */
export type Decimal = Brand<string, 'Decimal'>

/** Text from outside to a decimal; `undefined` when malformed or longer than `MAX_DECIMAL_CHARS`. `"1.50"` becomes `"1.5"`. */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > MAX_DECIMAL_CHARS || !DECIMAL_PATTERN.test(text)) return undefined
  const trimmed = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return (trimmed === '-0' ? '0' : trimmed) as Decimal
}

/** How many digits stand behind the point. */
export function decimalPlaces(value: Decimal): number {
  const point = value.indexOf('.')
  return point === -1 ? 0 : value.length - point - 1
}

/** `value` x 10^decimals, exactly; `undefined` when it has more than `decimals` places, so that nothing is rounded unseen. */
export function scaleDecimal(value: Decimal, decimals: number): bigint | undefined {
  const missing = decimals - decimalPlaces(value)
  if (missing < 0) return undefined
  return BigInt(value.replace('.', '') + '0'.repeat(missing))
}

/** `value` x 10^decimals with further places cut off, toward zero. */
export function scaleDecimalTruncated(value: Decimal, decimals: number): bigint {
  const excess = decimalPlaces(value) - decimals
  if (excess <= 0) return BigInt(value.replace('.', '') + '0'.repeat(-excess))
  return BigInt(value.replace('.', '')) / 10n ** BigInt(excess)
}

/** `scaled` / 10^decimals as text, exactly. The way from every on-chain amount to the wire. */
export function formatDecimal(scaled: bigint, decimals: number): Decimal {
  const sign = scaled < 0n ? '-' : ''
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}` as Decimal
}
