import type { Address, MarketGroup, MarketSymbol } from '@bezel/protocol'
import type { CollateralState, Moment, PairListing, PairState, VolumeState } from '../valuation/chainState.ts'
import type { PairInCollateral } from '../valuation/openInterest.ts'
import type { Precision } from './precision.ts'

/** A token that the Diamond knows as collateral. */
export interface ListedCollateral {
  /** 1-based. */
  readonly index: number
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  /** No new trade is opened in an inactive one. */
  readonly isActive: boolean
}

/** A pair of the Diamond, resolved through its group and fee group. Leverages are 1e3. */
export interface ListedPair {
  readonly pairIndex: number
  readonly symbol: MarketSymbol
  readonly base: string
  readonly quote: string
  readonly group: MarketGroup
  readonly groupIndex: number
  readonly feeIndex: number
  readonly minLeverage: bigint
  readonly maxLeverage: bigint
  readonly listing: PairListing
}

/** A pair that can be traded. */
export type ListedMarket = ListedPair & Precision

/** By pair index, in one collateral. */
export type PairStates = ReadonlyMap<number, PairState>

/** Everything a chain's Diamond says about its markets, as of one block. Never changed, only replaced as a whole. */
export interface ChainMarkets {
  readonly moment: Moment
  readonly collaterals: readonly (ListedCollateral & { readonly state: CollateralState })[]
  /** Whose rates are the market's: USDC where it is active, else the first active one. */
  readonly defaultCollateralIndex: number
  /** By pair index: the markets, and pairs closed to new trades in which positions are still open. */
  readonly pairs: ReadonlyMap<number, ListedPair>
  /** By symbol, in the order of the pair index. */
  readonly markets: ReadonlyMap<MarketSymbol, ListedMarket>
  /** Of every pair there ever was, for what happened before it was closed. */
  readonly symbols: ReadonlyMap<number, MarketSymbol>
  /** By pair index (1e10), what precisions are fixed by: kept for ever, also of pairs that are closed now. */
  readonly referencePrices: ReadonlyMap<number, bigint>
  /** By collateral index. */
  readonly states: ReadonlyMap<number, PairStates>
  /** By pair index; a pair without depth has none, as volume does not move its price. */
  readonly volumes: ReadonlyMap<number, VolumeState>
  /** Whether the Diamond lets anybody trade: a `TradingActivated`, or whatever a newer Diamond says. */
  readonly tradingActivated: number
  readonly marketOrdersTimeoutBlocks: number
  readonly triggerTimeoutBlocks: number
}

/** A pair's books in all collaterals. */
export function booksOf({ collaterals, states }: ChainMarkets, pairIndex: number): readonly PairInCollateral[] {
  const books: PairInCollateral[] = []
  for (const { index, state: collateral } of collaterals) {
    const pair = states.get(index)?.get(pairIndex)
    if (pair !== undefined) books.push({ pair, collateral })
  }
  return books
}

/** A pair's book in one collateral. */
export function bookOf(
  { collaterals, states }: ChainMarkets,
  collateralIndex: number,
  pairIndex: number,
): PairInCollateral | undefined {
  const pair = states.get(collateralIndex)?.get(pairIndex)
  const collateral = collaterals.find(({ index }) => index === collateralIndex)?.state
  return pair === undefined || collateral === undefined ? undefined : { pair, collateral }
}
