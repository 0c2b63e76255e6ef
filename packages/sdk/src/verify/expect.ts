import { BaseSize, CollateralPrice, Leverage, Price, Slippage, Usd } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { scaled } from './scales.ts'
import type { VerifyContext, CollateralFacts } from './verifyContext.ts'

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
const WHOLE_SLIPPAGE = 100n * Slippage.one

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

/**
 * Returns the collateral that a size may cost, in units of the token: size x price / leverage / the token's USD price,
 * rounded down once, which is how the service derives it (docs/decisions: collateral amount). Apart from that one unit
 * only the token's price is uncertain, by `priceTolerancePercent`, because it is read at another moment.
 */
export function collateralRange(
  { size, price, leverage }: { readonly size: string; readonly price: bigint; readonly leverage: bigint },
  collateral: CollateralFacts,
): { readonly least: bigint; readonly most: bigint } {
  // Exact (1e28), so that the only rounding is the last one.
  const notional = scaled('size', size, BaseSize) * price
  const { cheapest, dearest } = tokenPrices(collateral)
  const amountAt = (priceUsd: bigint): bigint =>
    (notional * Leverage.one * CollateralPrice.one) / (leverage * priceUsd * precisionDelta(collateral) * Price.one)
  return { least: amountAt(dearest), most: amountAt(cheapest) }
}

/** Returns a USD amount (1e18) in units of the token, at both ends of its price range. */
export function collateralRangeOfUsd(
  usd: bigint,
  collateral: CollateralFacts,
): { readonly least: bigint; readonly most: bigint } {
  const { cheapest, dearest } = tokenPrices(collateral)
  const amountAt = (priceUsd: bigint): bigint => (usd * CollateralPrice.one) / priceUsd / precisionDelta(collateral)
  return { least: amountAt(dearest), most: amountAt(cheapest) }
}

function tokenPrices(collateral: CollateralFacts): { readonly cheapest: bigint; readonly dearest: bigint } {
  const price = scaled('collateralPriceUsd', collateral.priceUsd, CollateralPrice)
  const room = (price * scaled('priceTolerancePercent', collateral.priceTolerancePercent, Slippage)) / WHOLE_SLIPPAGE
  return { cheapest: price - room, dearest: price + room }
}

function precisionDelta({ decimals }: CollateralFacts): bigint {
  return 10n ** BigInt(Usd.decimals - decimals)
}
