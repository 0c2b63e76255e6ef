import { formatDecimal, scaleDecimalTruncated, type Decimal } from '@bezel/protocol'
import { coinPrice, type Coin } from './coins.ts'

const PRICE_DECIMALS = 10

/** Where a price goes that lies between two steps. */
export type Rounding = 'down' | 'up' | 'nearest'

/**
 * A price (1e10) of one unit as the price of one coin, always with all the places the market takes: clients read the smallest step of a
 * price from how many places it has, and fail where there is no point.
 */
export function steppedPx(coin: Coin, price: bigint, rounding: Rounding = 'nearest'): string {
  const step = 10n ** BigInt(Math.max(0, PRICE_DECIMALS - coin.pxDecimals))
  return fixedText(roundTo(coinPrice(coin, price), step, rounding), coin.pxDecimals)
}

/**
 * What something was executed at, or would be liquidated at (1e10 of one unit), to the nearest step of the market: the chain knows more places
 * than any client could write in an order.
 */
export function nearestPx(coin: Coin, price: bigint): string {
  const step = 10n ** BigInt(Math.max(0, PRICE_DECIMALS - coin.pxDecimals))
  const rounded = roundTo(coinPrice(coin, price), step, 'nearest')
  // What costs less than half a step still costs something.
  return pointed(formatDecimal(rounded === 0n ? coinPrice(coin, price) : rounded, PRICE_DECIMALS))
}

/** The same of a native price. */
export function nearestPxText(coin: Coin, price: Decimal): string {
  return nearestPx(coin, scaleDecimalTruncated(price, PRICE_DECIMALS))
}

/** Of a value above zero. */
export function roundTo(value: bigint, step: bigint, rounding: Rounding): bigint {
  const added = { down: 0n, up: step - 1n, nearest: step / 2n }[rounding]
  return ((value + added) / step) * step
}

/** 1e10 as text with so many places. */
function fixedText(value: bigint, places: number): string {
  const [whole = '0', fraction = ''] = formatDecimal(value, PRICE_DECIMALS).split('.')
  return `${whole}.${fraction.padEnd(places, '0')}`
}

/** `"5"` as `"5.0"`: a number that some client splits at its point. */
export function pointed(text: string): string {
  return text.includes('.') ? text : `${text}.0`
}
