import { Price, type Address, type Leverage, type MarketGroup, type MarketSymbol } from '@bezel/protocol'
import type { CollateralState, Moment, PairListing, PairState, VolumeState } from '../valuation/chainState.ts'
import type { PairInCollateral } from '../valuation/openInterest.ts'

/** A token that the Diamond knows as collateral. */
export interface ListedCollateral {
  /** Index of the collateral on the chain, 1-based. */
  readonly index: number
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
  /** False when no new trade can be opened in this collateral. */
  readonly isActive: boolean
}

/** A pair of the Diamond, resolved through its group and fee group. */
export interface ListedPair {
  readonly pairIndex: number
  readonly symbol: MarketSymbol
  readonly base: string
  readonly quote: string
  readonly group: MarketGroup
  readonly groupIndex: number
  readonly feeIndex: number
  readonly minLeverage: Leverage
  readonly maxLeverage: Leverage
  readonly listing: PairListing
}

/** A pair that can be traded. */
export type ListedMarket = ListedPair & Precision

/** State of the pairs in one collateral, by pair index. */
export type PairStates = ReadonlyMap<number, PairState>

/** Everything a chain's Diamond says about its markets, as of one block. Never changed, only replaced as a whole. */
export interface ChainMarkets {
  readonly moment: Moment
  /** Number of blocks in an hour, measured on the chain's latest blocks. */
  readonly blocksPerHour: number
  readonly collaterals: readonly (ListedCollateral & { readonly state: CollateralState })[]
  /** Collateral whose rates are shown as the market's: USDC where it is active, else the first active one. */
  readonly defaultCollateralIndex: number
  /** Pairs by index: the markets, and pairs that are closed to new trades but still have open positions. */
  readonly pairs: ReadonlyMap<number, ListedPair>
  /** Markets by symbol, in the order of the pair index. */
  readonly markets: ReadonlyMap<MarketSymbol, ListedMarket>
  /** Symbols of every pair there ever was, for events from before a pair was closed. */
  readonly symbols: ReadonlyMap<number, MarketSymbol>
  /** Prices that fix the precision of each pair, by pair index. Kept for ever, also for closed pairs. */
  readonly referencePrices: ReadonlyMap<number, Price>
  /** State of the pairs, by collateral index. */
  readonly states: ReadonlyMap<number, PairStates>
  /** Recent volumes by pair index. A pair without depth has none, because volume does not move its price. */
  readonly volumes: ReadonlyMap<number, VolumeState>
  /** State of trading on the Diamond: a value of `TradingActivated`, or an unknown number from a newer Diamond. */
  readonly tradingActivated: number
  readonly marketOrdersTimeoutBlocks: number
  readonly triggerTimeoutBlocks: number
  /** Governance's share of a trading fee, 1e3 per percent. It sets the price of refusals and leverage updates. */
  readonly govFeeP: number
  /** Share of a close without profit that counts as volume, 1e10: 1e10 is all of it. */
  readonly negPnlCumulVolMultiplier: number
}

/** A pair's prices: trades execute at the mark, liquidations at the index. Times are those of this machine. */
export interface PairQuote {
  readonly pairIndex: number
  readonly mark: Price
  readonly index: Price
  /** Time at which this price was received, by tick or snapshot. */
  readonly updatedAtMs: number
}

/** Returns a pair's states in all collaterals. */
export function booksOf({ collaterals, states }: ChainMarkets, pairIndex: number): readonly PairInCollateral[] {
  const books: PairInCollateral[] = []
  for (const { index, state: collateral } of collaterals) {
    const pair = states.get(index)?.get(pairIndex)
    if (pair !== undefined) books.push({ pair, collateral })
  }
  return books
}

/** Returns a pair's state in one collateral; `undefined` when either is not known. */
export function bookOf(
  { collaterals, states }: ChainMarkets,
  collateralIndex: number,
  pairIndex: number,
): PairInCollateral | undefined {
  const pair = states.get(collateralIndex)?.get(pairIndex)
  const collateral = collaterals.find(({ index }) => index === collateralIndex)?.state
  return pair === undefined || collateral === undefined ? undefined : { pair, collateral }
}

/** The volume of a pair that has none. */
const NO_VOLUME: VolumeState = {
  settings: { startTs: 0, windowsDuration: 0, windowsCount: 0 },
  windows: new Map(),
}

/** Returns a pair's recent volume, which is empty for a pair without depth. */
export function volumeOf({ volumes }: Pick<ChainMarkets, 'volumes'>, pairIndex: number): VolumeState {
  return volumes.get(pairIndex) ?? NO_VOLUME
}

/** The number of decimals that a market accepts. */
export interface Precision {
  readonly pricePrecision: number
  readonly sizePrecision: number
}

/**
 * Returns the precision of a market from its reference price (above zero): six significant digits of the price, with at
 * least two and at most ten decimals; sizes in steps worth about 0.1 to 1 USD. With n = floor(log10 p) these are
 * `clamp(5 - n, 2, 10)` and `clamp(n + 1, 0, 8)`.
 */
export function precisionOf(referencePrice: Price): Precision {
  if (referencePrice <= 0n) throw new RangeError('a reference price is above zero')
  const magnitude = floorLog10(referencePrice) - Price.decimals
  return { pricePrecision: clamp(5 - magnitude, 2, 10), sizePrecision: clamp(magnitude + 1, 0, 8) }
}

/** Counts digits, because Math.log10 is off by one at some powers of ten. */
function floorLog10(value: bigint): number {
  return value.toString().length - 1
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}
