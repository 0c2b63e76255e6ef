import { Leverage, PercentP, symbolOfPair, type MarketGroup } from '@bezel/protocol'
import type { ListedPair } from '../../trading/market/chainMarkets.ts'

const PREFIXES: readonly (readonly [prefix: string, group: MarketGroup])[] = [
  ['crypto', 'crypto'],
  ['altcoins', 'crypto'],
  ['forex', 'forex'],
  ['stocks', 'stocks'],
  ['indices', 'indices'],
  ['commodities', 'commodities'],
]

/** A pair as the Diamond's view `pairs` returns it. `groups` and `fees` return the two types below. */
export interface DiamondPair {
  readonly from: string
  readonly to: string
  readonly spreadP: bigint
  readonly groupIndex: bigint
  readonly feeIndex: bigint
}

export interface DiamondGroup {
  readonly name: string
  readonly minLeverage: bigint
  readonly maxLeverage: bigint
}

export interface DiamondFee {
  readonly totalPositionSizeFeeP: number
  readonly totalLiqCollateralFeeP: number
  readonly minPositionSizeUsd: number
}

/** A pair with its group and fee resolved, before its depth and liquidation parameters are read. */
export type NamedPair = Omit<ListedPair, 'listing'> & { readonly spreadP: PercentP; readonly fee: DiamondFee }

/**
 * Resolves a pair's symbol, group and fee; `undefined` when its name can't be written as a market symbol, because then
 * no client could name it.
 */
export function namePair(
  pairIndex: number,
  pair: DiamondPair,
  customMaxLeverage: bigint,
  groups: readonly DiamondGroup[],
  fees: readonly DiamondFee[],
): NamedPair | undefined {
  const symbol = symbolOfPair(pair.from, pair.to)
  const group = groups[Number(pair.groupIndex)]
  const fee = fees[Number(pair.feeIndex)]
  if (symbol === undefined || group === undefined || fee === undefined) return undefined
  const [base = '', quote = ''] = symbol.split('/')
  return {
    pairIndex,
    symbol,
    base,
    quote,
    group: marketGroupOf(group.name),
    groupIndex: Number(pair.groupIndex),
    feeIndex: Number(pair.feeIndex),
    minLeverage: Leverage.of(group.minLeverage),
    maxLeverage: Leverage.of(customMaxLeverage > 0n ? customMaxLeverage : group.maxLeverage),
    spreadP: PercentP.of(pair.spreadP),
    fee,
  }
}

/**
 * Returns false when the greatest leverage is below the smallest, which is how the Diamond closes a pair to new trades.
 */
export function isTradable({ minLeverage, maxLeverage }: Pick<ListedPair, 'minLeverage' | 'maxLeverage'>): boolean {
  return maxLeverage >= minLeverage
}

/**
 * Returns the tradable pairs in the order of their index, one per symbol: of pairs with the same symbol the one with
 * the highest index.
 */
export function tradablePairs<Pair extends Omit<ListedPair, 'listing'>>(pairs: readonly Pair[]): readonly Pair[] {
  const bySymbol = new Map(pairs.filter(isTradable).map((pair) => [pair.symbol, pair]))
  return [...bySymbol.values()].toSorted((a, b) => a.pairIndex - b.pairIndex)
}

/**
 * Returns the class of a group by its name on chain, such as `stocks-2` or `forex-minor`. Unknown names count as
 * crypto: the one live group whose name no public source gives is of that class.
 */
export function marketGroupOf(name: string): MarketGroup {
  return PREFIXES.find(([prefix]) => name.toLowerCase().startsWith(prefix))?.[1] ?? 'crypto'
}
