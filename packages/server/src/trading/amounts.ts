import { formatDecimal, type Decimal, type MarketSymbol } from '@bezel/protocol'
import type { ChainMarkets, ListedCollateral } from './market/chainMarkets.ts'
import type { CollateralState, Trade } from './valuation/chainState.ts'
import { baseSizeOfTokens, positionSizeCollateral, usdOfCollateral } from './valuation/collateralAmounts.ts'
import { P_10 } from './valuation/scales.ts'

// Amounts of the chain as orders and fills show them.

const PRICE_DECIMALS = 10
const LEVERAGE_DECIMALS = 3
const SIZE_DECIMALS = 18

export const priceDecimal = (price: bigint): Decimal => formatDecimal(price, PRICE_DECIMALS)

/** 0 is none. */
export const triggerDecimal = (price: bigint): Decimal | null => (price === 0n ? null : priceDecimal(price))

export const leverageDecimal = (leverage: number | bigint): Decimal =>
  formatDecimal(BigInt(leverage), LEVERAGE_DECIMALS)

/** 1e3 per percent. */
export const slippageDecimal = (slippageP: number): Decimal => formatDecimal(BigInt(slippageP), 3)

/** Base units of a token size (1e18). `collateralPriceUsd` is 1e8. */
export function tokensDecimal(tokens: bigint, collateralPriceUsd: bigint): Decimal {
  return formatDecimal(baseSizeOfTokens(tokens, collateralPriceUsd), SIZE_DECIMALS)
}

/** Base units that collateral times leverage buys at a price, before spread and impact. Zero at no price. */
export function askedSizeDecimal(
  trade: Pick<Trade, 'collateralAmount' | 'leverage'>,
  price: bigint,
  collateral: CollateralState,
): Decimal {
  const usd = usdOfCollateral(positionSizeCollateral(trade), collateral)
  return formatDecimal(price === 0n ? 0n : (usd * P_10) / price, SIZE_DECIMALS)
}

export type KnownCollateral = ListedCollateral & { readonly state: CollateralState }

/** Throws when the markets were last read before it was added: the next reading knows it. */
export function collateralOf({ collaterals }: ChainMarkets, index: number): KnownCollateral {
  const found = collaterals.find((collateral) => collateral.index === index)
  if (found === undefined) throw new Error(`collateral ${index} is not known yet`)
  return found
}

/** A pair whose name can't be written as a symbol, or that was added a moment ago, goes by its index. */
export function symbolOf({ symbols }: ChainMarkets, pairIndex: number): MarketSymbol {
  return symbols.get(pairIndex) ?? (`PAIR${pairIndex}/USD` as MarketSymbol)
}
