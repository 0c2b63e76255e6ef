import { useComputed, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Link, navigate, tradePath } from '../router/router.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { DayChange, FavouriteButton, MarkPrice } from './MarketFigures.tsx'
import type { MarketSelection } from './useMarketRows.ts'
import { useMarketRows } from './useMarketRows.ts'
import { MarketSearch } from './MarketSearch.tsx'
import { moveFocus } from './MarketTable.tsx'

const SKELETON_ROWS = 20

/** The small list of markets beside the chart on wide screens. */
export function MarketRail({ current }: { readonly current: string }) {
  const list = useRef<HTMLUListElement>(null)
  const search = useSignal('')
  const selection = useComputed<MarketSelection>(() => ({
    search: search.value,
    filter: 'all',
    sort: { key: 'listed', isDescending: false },
  }))
  const rows = useMarketRows(selection).value
  const first = rows?.[0]
  return (
    <nav class="trade-rail panel" aria-label="Markets">
      <MarketSearch
        value={search.value}
        onInput={(text) => (search.value = text)}
        onEnter={() => first !== undefined && navigate(tradePath(first.market.symbol))}
        onDown={() => list.current?.querySelector<HTMLElement>('.market-link')?.focus()}
      />
      <ul class="rail-list" ref={list} onKeyDown={moveFocus}>
        {rows === null && Array.from({ length: SKELETON_ROWS }, (_, row) => <SkeletonItem key={row} />)}
        {rows?.map(({ market: { symbol } }) => (
          <RailItem key={symbol} symbol={symbol} isCurrent={symbol === current} />
        ))}
        {rows?.length === 0 && <li class="rail-none">No market matches. Escape empties the search.</li>}
      </ul>
    </nav>
  )
}

function RailItem({ symbol, isCurrent }: { readonly symbol: string; readonly isCurrent: boolean }) {
  return (
    <li class={isCurrent ? 'rail-item rail-item-current' : 'rail-item'}>
      <FavouriteButton symbol={symbol} />
      <Link to={tradePath(symbol)} class="market-link rail-link" current={isCurrent}>
        <span class="rail-symbol">{symbol}</span>
        <MarkPrice symbol={symbol} />
        <DayChange symbol={symbol} />
      </Link>
    </li>
  )
}

function SkeletonItem() {
  return (
    <li class="rail-item">
      <Skeleton />
    </li>
  )
}
