import { formatDecimal } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import { PRICE_DECIMALS, scaled, SLIPPAGE_DECIMALS } from './scales.ts'
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

const HUNDRED_PERCENT = 100n * 10n ** BigInt(SLIPPAGE_DECIMALS)

/**
 * A price that the request names is exact. Otherwise it is the market's, which moved between two looks: it may be off by the order's own
 * slippage, since by more the order would not be filled at the expected price anyway.
 */
export function expectPrice(
  named: string | undefined,
  slippage: bigint,
  { expectedPrice }: Pick<VerifyContext, 'expectedPrice'>,
  found: bigint,
): void {
  if (named !== undefined) return expectSame('price', scaled('price', named, PRICE_DECIMALS), found)
  if (expectedPrice === undefined) {
    const price = formatDecimal(found, PRICE_DECIMALS)
    throw new UnverifiedTransactionError('price', 'an expectedPrice to compare with, and none is known', price)
  }
  const expected = scaled('expectedPrice', expectedPrice, PRICE_DECIMALS)
  const room = (expected * slippage) / HUNDRED_PERCENT
  expectWithin('price', { least: expected - room, most: expected + room }, found)
}
