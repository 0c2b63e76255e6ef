import { useComputed } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { navigate, route, setQuery, tradePath } from '../router/router.ts'
import { markets, marketsProblem } from '../data/markets.ts'
import { problemOf } from '../ground/problem.ts'
import { Button } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { SegmentedControl } from '../ui/SegmentedControl.tsx'
import { GROUP_NAMES, groupsOf, parseFilter, parseSort, type MarketFilter } from './marketList.ts'
import { MarketSearch } from './MarketSearch.tsx'
import { MarketTable } from './MarketTable.tsx'
import { useMarketRows, type MarketSelection } from './useMarketRows.ts'
import './list.css'

/** The list of all markets. Search, filter and sort are in the address, so that they survive a reload. */
export function MarketsView() {
  const tableRef = useRef<HTMLTableElement>(null)
  const selection = useComputed<MarketSelection>(() => {
    const { search = '', filter, sort } = route.value.query
    return { search, filter: parseFilter(filter), sort: parseSort(sort) }
  })
  const rows = useMarketRows(selection).value
  const { search, filter, sort } = selection.value
  const first = rows?.[0]
  return (
    <section class="markets" aria-labelledby="markets-title">
      <div class="markets-head">
        <h1 id="markets-title" class="markets-title">
          Markets
        </h1>
        <MarketSearch
          value={search}
          onInput={(text) => setQuery({ search: text })}
          onEnter={() => first !== undefined && navigate(tradePath(first.market.symbol))}
          onDown={() => tableRef.current?.querySelector<HTMLElement>('.market-link')?.focus()}
        />
        <GroupFilter value={filter} />
      </div>
      {rows === null && marketsProblem.value !== null && <ProblemNotice problem={problemOf(marketsProblem.value)} />}
      <MarketTable tableRef={tableRef} rows={rows} sort={sort} />
      {rows?.length === 0 && <NothingFound search={search} filter={filter} />}
      <p class="visually-hidden" role="status">
        {rows === null ? 'Markets are loading.' : rows.length === 1 ? '1 market' : `${rows.length} markets`}
      </p>
    </section>
  )
}

function GroupFilter({ value }: { readonly value: MarketFilter }) {
  const groups = groupsOf(markets.value ?? [])
  const options: readonly { readonly value: MarketFilter; readonly label: string }[] = [
    { value: 'all', label: 'All' },
    { value: 'favourites', label: 'Favourites' },
    ...groups.map((group) => ({ value: group, label: GROUP_NAMES[group] })),
  ]
  return (
    <div class="markets-filter">
      <SegmentedControl
        label="Markets to show"
        options={options}
        value={value}
        onChange={(filter) => setQuery({ filter: filter === 'all' ? null : filter })}
      />
    </div>
  )
}

function NothingFound({ search, filter }: { readonly search: string; readonly filter: MarketFilter }) {
  const isEmptyStar = filter === 'favourites' && search === ''
  return (
    <Empty title={isEmptyStar ? 'No favourites yet' : 'No market matches'}>
      <p>{isEmptyStar ? 'Press the star of a market to keep it here.' : 'Try fewer letters, or all classes.'}</p>
      <Button onClick={() => setQuery({ search: null, filter: null })}>Show all markets</Button>
    </Empty>
  )
}
