import { Price, parseDecimal } from '@bezel/protocol'

/** Largest price: the aggregator keeps an answer in a uint56, which is about 7,205,759.40. */
export const MAX_PRICE = Price.of(2n ** 56n - 1n)

/** Most digits of a price; more do not survive a JSON number. */
const MAX_DIGITS = 15

/** Digits of a quoted price: seven, but always cents. */
const QUOTED_DIGITS = 7
const MAX_DROPPED_DIGITS = Price.decimals - 2

/** Parses a price given by hand. Throws a sentence that says what is wrong with it. */
export function parseFeedPrice(text: string): Price {
  const decimal = typeof text === 'string' ? parseDecimal(text) : undefined
  if (decimal === undefined)
    throw new FeedInputError(`A price is a decimal string such as "65000.5", not ${JSON.stringify(text)}.`)
  const price = Price.parse(decimal)
  if (price === undefined) throw new FeedInputError(`The price ${text} has more than ${Price.decimals} decimals.`)
  if (price <= 0n) throw new FeedInputError(`The price ${text} is not above zero.`)
  if (price > MAX_PRICE) {
    throw new FeedInputError(`The price ${text} is above ${Price.format(MAX_PRICE)}, the most an oracle can answer.`)
  }
  if (price.toString().replace(/0+$/, '').length > MAX_DIGITS) {
    throw new FeedInputError(
      `The price ${text} has more than ${MAX_DIGITS} digits, which a JSON number can't carry exactly.`,
    )
  }
  return price
}

/** Returns a price as a JSON number; reading it back gives the same decimal. */
export function priceNumber(price: bigint): number {
  return Number(Price.format(Price.of(price)))
}

/**
 * Cuts a price to the digits a market shows, within what an oracle can answer. The order of two prices never changes.
 */
export function quotedPrice(price: bigint): bigint {
  if (price < 1n) return 1n
  const bounded = price > MAX_PRICE ? MAX_PRICE : price
  const dropped = Math.min(MAX_DROPPED_DIGITS, bounded.toString().length - QUOTED_DIGITS)
  if (dropped <= 0) return bounded
  const step = 10n ** BigInt(dropped)
  return (bounded / step) * step
}

/** The error for wrong input to a control of the feed, in one sentence. */
export class FeedInputError extends Error {
  override readonly name = 'FeedInputError'
}
