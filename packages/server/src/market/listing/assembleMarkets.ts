import { type Price } from '@bezel/protocol'
import type { Moment, PairState, VolumeState } from '../../trading/valuation/chainState.ts'
import {
  type ChainMarkets,
  type ListedCollateral,
  type ListedMarket,
  type PairStates,
  precisionOf,
} from '../../trading/market/chainMarkets.ts'
import { tradablePairs } from './namedPair.ts'
import { cellKey, type TradedState } from './foldTraded.ts'
import type { ChainListing, PairTerms } from './readListing.ts'
import { groupIndexOf, type MarketState } from './readState.ts'

/** Symbol of the collateral whose rates a market shows. */
const DEFAULT_COLLATERAL = 'USDC'

/**
 * Combines the parts that were read. A pair without a reference price can't be a market yet, because its precision is
 * not known.
 */
export function assembleMarkets(
  listing: ChainListing,
  { prices, traded }: MarketState,
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
    collaterals: listing.collaterals.map(({ precision, precisionDelta, ...collateral }, at) => ({
      ...collateral,
      state: { precision, precisionDelta, priceUsd: prices[at]! },
    })),
    defaultCollateralIndex: defaultCollateral(listing.collaterals)?.index ?? 0,
    pairs: new Map(listing.pairs.map((pair) => [pair.pairIndex, pair])),
    markets: new Map(markets.map((market) => [market.symbol, market])),
    symbols: listing.symbols,
    referencePrices,
    states: new Map([...listing.terms].map(([index, terms]) => [index, statesOf(index, terms, traded)])),
    volumes: volumesOf(listing, traded),
    tradingActivated: listing.tradingActivated,
    marketOrdersTimeoutBlocks: listing.marketOrdersTimeoutBlocks,
    triggerTimeoutBlocks: listing.triggerTimeoutBlocks,
    govFeeP: listing.govFeeP,
    negPnlCumulVolMultiplier: listing.negPnlCumulVolMultiplier,
  }
}

/**
 * Returns the markets with other traded values, of which only those under the keys of `changed` differ. The states of
 * all other collaterals and the volumes of all other pairs stay the same objects.
 */
export function withTraded(
  markets: ChainMarkets,
  listing: ChainListing,
  traded: TradedState,
  changed: TradedState,
): ChainMarkets {
  const touched = new Set([...changed.pairs.keys(), ...changed.groups.keys()].map((key) => Number.parseInt(key, 10)))
  const states = new Map(markets.states)
  for (const index of touched) states.set(index, statesOf(index, listing.terms.get(index) ?? new Map(), traded))
  const volumes = new Map(markets.volumes)
  for (const pairIndex of changed.windows.keys()) {
    volumes.set(pairIndex, { settings: listing.windows, windows: traded.windows.get(pairIndex)! })
  }
  return { ...markets, states, volumes }
}

function statesOf(collateralIndex: number, terms: ReadonlyMap<number, PairTerms>, traded: TradedState): PairStates {
  return new Map(
    [...terms].map(([pairIndex, pair]): [number, PairState] => {
      const { oldBorrowing: data, ...values } = traded.pairs.get(cellKey(collateralIndex, pairIndex))!
      const { feePerBlock: _rate, feeExponent: _exponent, ...settings } = pair.oldBorrowing
      const groupIndex = groupIndexOf(pair)
      const group = groupIndex === undefined ? undefined : traded.groups.get(cellKey(collateralIndex, groupIndex))
      return [pairIndex, { ...pair, ...values, oldBorrowing: { ...settings, data, group } }]
    }),
  )
}

function volumesOf({ windows: settings }: ChainListing, { windows }: TradedState): ReadonlyMap<number, VolumeState> {
  return new Map([...windows].map(([pairIndex, byId]) => [pairIndex, { settings, windows: byId }]))
}

function defaultCollateral(collaterals: readonly ListedCollateral[]): ListedCollateral | undefined {
  const active = collaterals.filter(({ isActive }) => isActive)
  return active.find(({ symbol }) => symbol === DEFAULT_COLLATERAL) ?? active[0] ?? collaterals[0]
}
