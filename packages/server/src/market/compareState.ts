import { isDeepStrictEqual } from 'node:util'
import { Usd } from '@bezel/protocol'
import { activeWindowIds } from '../trading/valuation/priceImpact.ts'
import type { Moment, PairOi } from '../trading/valuation/chainState.ts'
import type { TradedState, Windows } from './listing/foldTraded.ts'
import type { ChainListing } from './listing/readListing.ts'

/**
 * Returns those of the values read from the chain that differ from the known ones; `undefined` when none does. Windows
 * that are over do not count.
 */
export function differencesOf(
  known: TradedState,
  read: TradedState,
  { windows: settings }: ChainListing,
  { timestampS }: Moment,
): TradedState | undefined {
  const ids = activeWindowIds(settings, timestampS)
  const isSameVolume = (a: Windows, b: Windows): boolean =>
    ids.every((id) => isDeepStrictEqual(a.get(id) ?? NO_VOLUME, b.get(id) ?? NO_VOLUME))
  const found = {
    pairs: others(known.pairs, read.pairs, isDeepStrictEqual),
    groups: others(known.groups, read.groups, isDeepStrictEqual),
    windows: others(known.windows, read.windows, isSameVolume),
  }
  return found.pairs.size + found.groups.size + found.windows.size === 0 ? undefined : found
}

const NO_VOLUME: PairOi = { oiLongUsd: Usd.zero, oiShortUsd: Usd.zero }

function others<Key, Value>(
  known: ReadonlyMap<Key, Value>,
  read: ReadonlyMap<Key, Value>,
  isSame: (a: Value, b: Value) => boolean,
): Map<Key, Value> {
  const entries = [...read].filter(([key, value]) => {
    const own = known.get(key)
    return own === undefined || !isSame(own, value)
  })
  return new Map(entries)
}

/** Returns those values whose place has not been written to since: both states have the same object there. */
export function stillUnder(values: TradedState, then: TradedState, now: TradedState): TradedState {
  return {
    pairs: unchanged(values.pairs, then.pairs, now.pairs),
    groups: unchanged(values.groups, then.groups, now.groups),
    windows: unchanged(values.windows, then.windows, now.windows),
  }
}

function unchanged<Key, Value>(
  values: ReadonlyMap<Key, Value>,
  then: ReadonlyMap<Key, Value>,
  now: ReadonlyMap<Key, Value>,
): Map<Key, Value> {
  return new Map([...values].filter(([key]) => then.get(key) === now.get(key)))
}

/** Names the places of values for operators, at most `MAX_NAMED` of them. */
export function placeNames({ pairs, groups, windows }: TradedState, listing: ChainListing): readonly string[] {
  const symbolOf = (pairIndex: number): string => listing.symbols.get(pairIndex) ?? `pair ${pairIndex}`
  const tokenOf = (index: number): string =>
    listing.collaterals.find((collateral) => collateral.index === index)?.symbol ?? `collateral ${index}`
  const placeOf = (key: string): readonly [number, number] => {
    const [collateralIndex = '', index = ''] = key.split('/')
    return [Number(collateralIndex), Number(index)]
  }
  const named = [
    ...[...pairs.keys()].map(placeOf).map(([token, pair]) => `${symbolOf(pair)} in ${tokenOf(token)}`),
    ...[...groups.keys()].map(placeOf).map(([token, group]) => `group ${group} in ${tokenOf(token)}`),
    ...[...windows.keys()].map((pair) => `volume of ${symbolOf(pair)}`),
  ]
  return named.slice(0, MAX_NAMED)
}

const MAX_NAMED = 10

/** Returns true when two listings say the same. The pace of blocks is measured and differs a little each time. */
export function isSameListing(a: ChainListing, b: ChainListing): boolean {
  return isDeepStrictEqual({ ...a, blocksPerHour: 0 }, { ...b, blocksPerHour: 0 })
}
