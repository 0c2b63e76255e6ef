import { BaseSize, CollateralPrice, Leverage, Price, Slippage, type Decimal, type MarketSymbol } from '@bezel/protocol'
import type { ChainMarkets, ListedCollateral } from './chainMarkets.ts'
import type { CollateralState, Trade } from '../valuation/chainState.ts'
import {
  baseSizeOfTokens,
  positionSizeCollateral,
  tokensOfTrade,
  usdOfCollateral,
} from '../valuation/collateralAmounts.ts'

// Converts amounts of the chain to the decimals that orders and fills show.

/** Returns the price of a take profit, a stop loss or a trigger; `null` for 0, which means none on the chain. */
export function triggerDecimal(price: Price): Decimal | null {
  return price === 0n ? null : Price.format(price)
}

export function leverageDecimal({ leverage }: Pick<Trade, 'leverage'>): Decimal {
  return Leverage.format(Leverage.of(leverage))
}

/** Returns a slippage in percent. `slippageP` is the chain's value, 1e3 per percent. */
export function slippageDecimal(slippageP: number): Decimal {
  return Slippage.format(Slippage.of(slippageP))
}

/** Returns the size of a trade in base units. `collateralPriceUsd` (1e8) is the one stored with the trade. */
export function sizeDecimal(
  { positionSizeToken }: Pick<Trade, 'positionSizeToken'>,
  { collateralPriceUsd }: { readonly collateralPriceUsd: number | bigint },
): Decimal {
  return BaseSize.format(baseSizeOfTokens(positionSizeToken, CollateralPrice.of(collateralPriceUsd)))
}

/** Returns a trade, or a part of one, with its size in tokens, which a trade from before v10 does not store. */
export function withTokens(markets: ChainMarkets, trade: Trade): Trade {
  if (trade.positionSizeToken > 0n || trade.openPrice === 0n) return trade
  return { ...trade, positionSizeToken: tokensOfTrade(trade, collateralOf(markets, trade.collateralIndex).state) }
}

/**
 * Returns the base units that collateral times leverage buys at a price, before spread and impact. Zero at a price of
 * 0.
 */
export function askedSizeDecimal(
  trade: Pick<Trade, 'collateralAmount' | 'leverage'>,
  price: Price,
  collateral: CollateralState,
): Decimal {
  const usd = usdOfCollateral(positionSizeCollateral(trade), collateral)
  return BaseSize.format(price === 0n ? BaseSize.zero : BaseSize.of((usd * Price.one) / price))
}

export type KnownCollateral = ListedCollateral & { readonly state: CollateralState }

/**
 * Returns a collateral by its index. Throws when it was added after the markets were last read; the next read includes
 * it.
 */
export function collateralOf({ collaterals }: ChainMarkets, index: number): KnownCollateral {
  const found = collaterals.find((collateral) => collateral.index === index)
  if (found === undefined) throw new Error(`collateral ${index} is not known yet`)
  return found
}

/**
 * Returns the symbol of a pair. A pair whose name is no valid symbol, or that was just added, is named by its index.
 */
export function symbolOf({ symbols }: ChainMarkets, pairIndex: number): MarketSymbol {
  return symbols.get(pairIndex) ?? (`PAIR${pairIndex}/USD` as MarketSymbol)
}
