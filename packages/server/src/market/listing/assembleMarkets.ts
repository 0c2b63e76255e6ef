import { type Price } from '@bezel/protocol'
import type { Moment } from '../../trading/valuation/chainState.ts'
import {
  type ChainMarkets,
  type ListedCollateral,
  type ListedMarket,
  precisionOf,
} from '../../trading/market/chainMarkets.ts'
import { tradablePairs } from './namedPair.ts'
import type { ChainListing } from './readListing.ts'
import type { TradedState } from './readState.ts'

/** Symbol of the collateral whose rates a market shows. */
const DEFAULT_COLLATERAL = 'USDC'

/**
 * Combines the parts that were read. A pair without a reference price can't be a market yet, because its precision is
 * not known.
 */
export function assembleMarkets(
  listing: ChainListing,
  traded: TradedState,
  referencePrices: ReadonlyMap<number, Price>,
  moment: Moment,
): ChainMarkets {
  const markets: ListedMarket[] = []
  for (const pair of tradablePairs(listing.pairs)) {
    const referencePrice = referencePrices.get(pair.pairIndex)
    if (referencePrice !== undefined) markets.push({ ...pair, ...precisionOf(referencePrice) })
  }
  return {
    moment,
    blocksPerHour: listing.blocksPerHour,
    collaterals: listing.collaterals.map(({ index, symbol, address, decimals, isActive }, at) => ({
      index,
      symbol,
      address,
      decimals,
      isActive,
      state: traded.collaterals[at]!,
    })),
    defaultCollateralIndex: defaultCollateral(listing.collaterals)?.index ?? 0,
    pairs: new Map(listing.pairs.map((pair) => [pair.pairIndex, pair])),
    markets: new Map(markets.map((market) => [market.symbol, market])),
    symbols: listing.symbols,
    referencePrices,
    states: traded.states,
    volumes: traded.volumes,
    tradingActivated: traded.tradingActivated,
    marketOrdersTimeoutBlocks: listing.marketOrdersTimeoutBlocks,
    triggerTimeoutBlocks: listing.triggerTimeoutBlocks,
    govFeeP: listing.govFeeP,
    negPnlCumulVolMultiplier: listing.negPnlCumulVolMultiplier,
  }
}

function defaultCollateral(collaterals: readonly ListedCollateral[]): ListedCollateral | undefined {
  const active = collaterals.filter(({ isActive }) => isActive)
  return active.find(({ symbol }) => symbol === DEFAULT_COLLATERAL) ?? active[0] ?? collaterals[0]
}
