import { symbolOfPair } from '@bezel/protocol'
import type { ListedPair } from '../../trading/market/chainMarkets.ts'
import { marketGroupOf } from './marketGroup.ts'

/** As `pairs`, `groups` and `fees` give them. */
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
export type NamedPair = Omit<ListedPair, 'listing'> & { readonly spreadP: bigint; readonly fee: DiamondFee }

/** `undefined` when its name can't be written as a market symbol, so that no client could name it. */
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
    minLeverage: group.minLeverage,
    maxLeverage: customMaxLeverage > 0n ? customMaxLeverage : group.maxLeverage,
    spreadP: pair.spreadP,
    fee,
  }
}

/** A largest leverage below the smallest is how the Diamond closes a pair to new trades. */
export function isTradable({ minLeverage, maxLeverage }: Pick<ListedPair, 'minLeverage' | 'maxLeverage'>): boolean {
  return maxLeverage >= minLeverage
}

/** Those that can be traded, one for each symbol: of pairs with the same one, that with the higher index. In the order of the index. */
export function tradablePairs<Pair extends Omit<ListedPair, 'listing'>>(pairs: readonly Pair[]): readonly Pair[] {
  const bySymbol = new Map(pairs.filter(isTradable).map((pair) => [pair.symbol, pair]))
  return [...bySymbol.values()].toSorted((a, b) => a.pairIndex - b.pairIndex)
}
