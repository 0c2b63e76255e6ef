import { LEVERAGE_DECIMALS, scaled, SIZE_DECIMALS, USD_DECIMALS, USD_PRICE_DECIMALS } from './scales.ts'
import type { CollateralFacts } from './verifyContext.ts'

const PRICE_ONE = 10n ** 10n
const LEVERAGE_ONE = 10n ** BigInt(LEVERAGE_DECIMALS)
const USD_PRICE_ONE = 10n ** BigInt(USD_PRICE_DECIMALS)
/** 100 % with three decimals. */
const HUNDRED_PERCENT = 100_000n

/**
 * What a size may take of the token, in its units: size x price / leverage / the token's USD price, rounded down once, which is how the
 * service derives it (decisions: collateral amount). Besides that one unit only the token's price is uncertain, because it is
 * read at another moment: by `priceTolerancePercent` of it.
 */
export function collateralRange(
  { size, price, leverage }: { readonly size: string; readonly price: bigint; readonly leverage: bigint },
  collateral: CollateralFacts,
): { readonly least: bigint; readonly most: bigint } {
  // 1e28: exact, so that the only rounding is the last one.
  const notional = scaled('size', size, SIZE_DECIMALS) * price
  const { cheapest, dearest } = tokenPrices(collateral)
  const amountAt = (priceUsd: bigint): bigint =>
    (notional * LEVERAGE_ONE * USD_PRICE_ONE) / (leverage * priceUsd * precisionDelta(collateral) * PRICE_ONE)
  return { least: amountAt(dearest), most: amountAt(cheapest) }
}

/** Units of the token that a USD amount (1e18) is, at both ends of its price. */
export function collateralOfUsd(
  usd: bigint,
  collateral: CollateralFacts,
): { readonly least: bigint; readonly most: bigint } {
  const { cheapest, dearest } = tokenPrices(collateral)
  const amountAt = (priceUsd: bigint): bigint => (usd * USD_PRICE_ONE) / priceUsd / precisionDelta(collateral)
  return { least: amountAt(dearest), most: amountAt(cheapest) }
}

function tokenPrices(collateral: CollateralFacts): { readonly cheapest: bigint; readonly dearest: bigint } {
  const price = scaled('collateralPriceUsd', collateral.priceUsd, USD_PRICE_DECIMALS)
  const room = (price * scaled('priceTolerancePercent', collateral.priceTolerancePercent, 3)) / HUNDRED_PERCENT
  return { cheapest: price - room, dearest: price + room }
}

function precisionDelta({ decimals }: CollateralFacts): bigint {
  return 10n ** BigInt(USD_DECIMALS - decimals)
}
