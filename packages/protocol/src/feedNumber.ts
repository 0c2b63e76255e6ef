import { parseDecimal, type Decimal } from './decimal.ts'

const FEED_NUMBER_PATTERN = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/

/** Beyond this an exponent is no price; without a bound `1e999` would be a kilobyte of zeros. */
const MAX_ABS_EXPONENT = 40

/**
 * A number as the price feed writes it (JSON, so `1.2e-7` is possible) to a decimal. A `number` is taken at its shortest text that
 * reads back as the same double. `undefined` when it is no finite number or its plain form is longer than a decimal may be.
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
