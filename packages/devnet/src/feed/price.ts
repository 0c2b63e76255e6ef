import { formatDecimal, parseDecimal, scaleDecimal } from '@bezel/protocol'

/** Places of a price on chain. */
const PRICE_DECIMALS = 10

/** The aggregator keeps an answer in a uint56: 7,205,759.40 and a little. */
export const MAX_PRICE = 2n ** 56n - 1n

/** More digits do not survive the way through a JSON number. */
const MAX_DIGITS = 15

/** What a quoted price shows: seven digits, but always cents. */
const QUOTED_DIGITS = 7
const MAX_DROPPED_DIGITS = PRICE_DECIMALS - 2

/** A price given by hand, 1e10. Throws a sentence that says what is wrong with it. */
export function parsePrice(text: string): bigint {
  const decimal = typeof text === 'string' ? parseDecimal(text) : undefined
  if (decimal === undefined)
    throw new FeedInputError(`A price is a decimal string such as "65000.5", not ${JSON.stringify(text)}.`)
  const price = scaleDecimal(decimal, PRICE_DECIMALS)
  if (price === undefined) throw new FeedInputError(`The price ${text} has more than ${PRICE_DECIMALS} decimals.`)
  if (price <= 0n) throw new FeedInputError(`The price ${text} is not above zero.`)
  if (price > MAX_PRICE) {
    throw new FeedInputError(
      `The price ${text} is above ${formatDecimal(MAX_PRICE, PRICE_DECIMALS)}, the most an oracle can answer.`,
    )
  }
  if (price.toString().replace(/0+$/, '').length > MAX_DIGITS) {
    throw new FeedInputError(
      `The price ${text} has more than ${MAX_DIGITS} digits, which a JSON number can't carry exactly.`,
    )
  }
  return price
}

/** The price as it goes into JSON; reading it back gives the same decimal. */
export function priceNumber(price: bigint): number {
  return Number(formatDecimal(price, PRICE_DECIMALS))
}

/** Cut to the digits a market shows and kept within what an oracle can answer. Never turns a higher price into a lower one than its neighbour. */
export function quotedPrice(price: bigint): bigint {
  if (price < 1n) return 1n
  const bounded = price > MAX_PRICE ? MAX_PRICE : price
  const dropped = Math.min(MAX_DROPPED_DIGITS, bounded.toString().length - QUOTED_DIGITS)
  if (dropped <= 0) return bounded
  const step = 10n ** BigInt(dropped)
  return (bounded / step) * step
}

/** What the caller of a control got wrong, in one sentence. */
export class FeedInputError extends Error {
  override readonly name = 'FeedInputError'
}
