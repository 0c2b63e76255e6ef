import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { changeOf, favourites, markets, priceOf } from '../data/markets.ts'
import { filterRows, sortRows, type ListedRow, type MarketFilter, type MarketSort } from './marketList.ts'

/** The part of the list that is shown, and its order. */
export interface MarketSelection {
  readonly search: string
  readonly filter: MarketFilter
  readonly sort: MarketSort
}

/** Pause between two sorts by live figures. Rows that move with every tick could not be read or clicked. */
const RESORT_MS = 3_000

/** Returns the rows of a selection; `null` until the markets are read. Prices are read without following them. */
export function useMarketRows(selection: ReadonlySignal<MarketSelection>): ReadonlySignal<readonly ListedRow[] | null> {
  const sortings = useSignal(0)
  useEffect(() => {
    const timer = setInterval(() => {
      const { key } = selection.peek().sort
      if (key === 'price' || key === 'change') sortings.value += 1
    }, RESORT_MS)
    return () => clearInterval(timer)
  }, [])
  return useComputed(() => {
    void sortings.value
    const { search, filter, sort } = selection.value
    const rows = markets.value?.map((market): ListedRow => {
      const change = changeOf(market.symbol).peek()
      return {
        market,
        mark: priceOf(market.symbol).peek()?.mark ?? null,
        change: change === null ? null : Number(change),
        isFavourite: favourites.value.has(market.symbol),
      }
    })
    return rows === undefined ? null : sortRows(filterRows(rows, { filter, search }), sort)
  })
}
