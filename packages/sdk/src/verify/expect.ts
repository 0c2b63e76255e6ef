import { HUNDRED_PERCENT, PercentP, Price, Slippage } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { scaled } from './scales.ts'
import type { VerifyContext } from './verifyContext.ts'

type Plain = bigint | number | boolean | string

/** Throws unless both are the same. Numbers compare by value, whatever their type. */
export function expectSame(field: string, expected: Plain, found: Plain): void {
  const isEqual =
    typeof expected === 'string' ||
    typeof expected === 'boolean' ||
    typeof found === 'string' ||
    typeof found === 'boolean'
      ? expected === found
      : BigInt(expected) === BigInt(found)
  if (!isEqual) throw new UnverifiedTransactionError(field, String(expected), String(found))
}

/** Throws unless `least <= found <= most`. */
export function expectWithin(field: string, { least, most }: { least: bigint; most: bigint }, found: bigint): void {
  if (found >= least && found <= most) return
  throw new UnverifiedTransactionError(field, least === most ? String(least) : `${least} to ${most}`, String(found))
}

/** 100 %. */
export const WHOLE_SLIPPAGE = 100n * Slippage.one

/** Throws unless the word for the market's price is near the price on the chain, where there is one. */
export function expectCrediblePrice({
  expectedPrice,
  chainPrice,
}: Pick<VerifyContext, 'expectedPrice' | 'chainPrice'>): void {
  if (chainPrice === undefined || expectedPrice === undefined) return
  const price = scaled('price on the chain', chainPrice.price, Price)
  const room = (price * scaled('tolerance', chainPrice.tolerancePercent, PercentP)) / HUNDRED_PERCENT
  expectWithin(
    'expectedPrice',
    { least: price - room, most: price + room },
    scaled('expectedPrice', expectedPrice, Price),
  )
}

/**
 * Checks a price. A price that the request names must match exactly. The market's price may differ by the order's own
 * slippage, because beyond that the order would not be filled at the expected price anyway.
 */
export function expectPrice(
  named: string | undefined,
  slippage: bigint,
  { expectedPrice }: Pick<VerifyContext, 'expectedPrice'>,
  found: bigint,
): void {
  if (named !== undefined) return expectSame('price', scaled('price', named, Price), found)
  if (expectedPrice === undefined) {
    const price = Price.format(Price.of(found))
    throw new UnverifiedTransactionError('price', 'an expectedPrice to compare with, and none is known', price)
  }
  const expected = scaled('expectedPrice', expectedPrice, Price)
  const room = (expected * slippage) / WHOLE_SLIPPAGE
  expectWithin('price', { least: expected - room, most: expected + room }, found)
}
