import { decimal } from '@bezel/sdk'
import type { MarketGroup, MarketRecord } from '@bezel/protocol/wire'

/** Columns that the list can be sorted by. `listed` is the order of the chain's own list. */
export type SortKey = 'listed' | 'market' | 'price' | 'change' | 'funding' | 'openInterest'

export interface MarketSort {
  readonly key: SortKey
  readonly isDescending: boolean
}

/** The part of the list that is shown: all markets, the favourites, or one class. */
export type MarketFilter = 'all' | 'favourites' | MarketGroup

/** A market with the figures that it is sorted by. */
export interface ListedRow {
  readonly market: MarketRecord
  /** Mark price; `null` while none has come. */
  readonly mark: string | null
  /** Change over 24 hours as a fraction; `null` while it is not known. */
  readonly change: number | null
  readonly isFavourite: boolean
}

/** The order of the classes in the filter, with their names. */
export const GROUP_NAMES: Readonly<Record<MarketGroup, string>> = {
  crypto: 'Crypto',
  forex: 'Forex',
  stocks: 'Stocks',
  indices: 'Indices',
  commodities: 'Commodities',
}

const GROUPS = Object.keys(GROUP_NAMES) as readonly MarketGroup[]

const FILTERS: readonly MarketFilter[] = ['all', 'favourites', ...GROUPS]

const SORT_KEYS: readonly SortKey[] = ['listed', 'market', 'price', 'change', 'funding', 'openInterest']

const LISTED: MarketSort = { key: 'listed', isDescending: false }

/** Returns the classes that the markets have, in the order of the filter. */
export function groupsOf(markets: readonly Pick<MarketRecord, 'group'>[]): readonly MarketGroup[] {
  const present = new Set(markets.map(({ group }) => group))
  return GROUPS.filter((group) => present.has(group))
}

/** Returns the open interest of both sides in USD. */
export function openInterestOf({ funding }: Pick<MarketRecord, 'funding'>): string {
  return decimal.add(funding.openInterestLongUsd, funding.openInterestShortUsd)
}

/**
 * Returns true when a market matches what was typed: every word must be in its symbol, with or without the slash, or at
 * the beginning of the name of its class.
 */
export function matchesSearch({ symbol, group }: Pick<MarketRecord, 'symbol' | 'group'>, search: string): boolean {
  const name = symbol.toLowerCase()
  const joined = name.replace('/', '')
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return words.every((word) => {
    const bare = word.replaceAll(/[/\-_]/g, '')
    return joined.includes(bare) || group.startsWith(word)
  })
}

/** Returns the rows that the filter and the search leave, in their order. */
export function filterRows(
  rows: readonly ListedRow[],
  { filter, search }: { readonly filter: MarketFilter; readonly search: string },
): readonly ListedRow[] {
  return rows.filter(({ market, isFavourite }) => {
    if (filter === 'favourites' && !isFavourite) return false
    if (filter !== 'all' && filter !== 'favourites' && market.group !== filter) return false
    return matchesSearch(market, search)
  })
}

/** Sorts rows: favourites first, then by the column. Rows without a figure are last whatever the direction. */
export function sortRows(rows: readonly ListedRow[], { key, isDescending }: MarketSort): readonly ListedRow[] {
  const direction = isDescending ? -1 : 1
  return rows.toSorted((a, b) => {
    if (a.isFavourite !== b.isFavourite) return a.isFavourite ? -1 : 1
    const [hasA, hasB] = [hasFigure(a, key), hasFigure(b, key)]
    if (hasA !== hasB) return hasA ? -1 : 1
    const order = hasA ? direction * COMPARE[key](a, b) : 0
    return order === 0 ? a.market.pairIndex - b.market.pairIndex : order
  })
}

/** Returns the sort after a click on a column: figures begin with the largest, names with the first letter. */
export function nextSort(sort: MarketSort, key: SortKey): MarketSort {
  if (sort.key !== key) return { key, isDescending: key !== 'market' && key !== 'listed' }
  const isFirst = sort.isDescending === (key !== 'market')
  return isFirst ? { key, isDescending: !sort.isDescending } : LISTED
}

/** Returns the sort that a deep link names: `change` begins with the largest, `-change` with the smallest. */
export function parseSort(text: string | undefined): MarketSort {
  const name = text?.replace(/^-/, '')
  const key = SORT_KEYS.find((known) => known === name)
  if (key === undefined || key === 'listed') return LISTED
  const isReversed = text?.startsWith('-') === true
  return { key, isDescending: (key !== 'market') !== isReversed }
}

/** Returns a sort as `parseSort` reads it; `null` for the order of the list itself. */
export function sortText({ key, isDescending }: MarketSort): string | null {
  if (key === 'listed') return null
  return isDescending === (key !== 'market') ? key : `-${key}`
}

/** Returns the part of the list that a deep link names; all of it for anything else. */
export function parseFilter(text: string | undefined): MarketFilter {
  return FILTERS.find((filter) => filter === text) ?? 'all'
}

/** Returns the index to move to with a key, within the list; `null` for a key that moves nowhere. */
export function moveInList(key: string, index: number, length: number): number | null {
  if (length === 0) return null
  if (key === 'ArrowDown') return Math.min(index + 1, length - 1)
  if (key === 'ArrowUp') return Math.max(index - 1, 0)
  if (key === 'Home') return 0
  if (key === 'End') return length - 1
  if (key === 'PageDown') return Math.min(index + 10, length - 1)
  return key === 'PageUp' ? Math.max(index - 10, 0) : null
}

const COMPARE: Readonly<Record<SortKey, (a: ListedRow, b: ListedRow) => number>> = {
  listed: () => 0,
  market: (a, b) => a.market.symbol.localeCompare(b.market.symbol, 'en'),
  price: (a, b) => decimal.compare(a.mark ?? '0', b.mark ?? '0'),
  change: (a, b) => (a.change ?? 0) - (b.change ?? 0),
  funding: (a, b) => decimal.compare(a.market.funding.fundingRateLongHourly, b.market.funding.fundingRateLongHourly),
  openInterest: (a, b) => decimal.compare(openInterestOf(a.market), openInterestOf(b.market)),
}

function hasFigure({ mark, change }: ListedRow, key: SortKey): boolean {
  if (key === 'price') return mark !== null
  return key === 'change' ? change !== null : true
}
