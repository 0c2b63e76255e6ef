import type { RefObject } from 'preact'
import { Link, navigate, setQuery, tradePath } from '../router/router.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { DayChange, FavouriteButton, FundingRate, MarkPrice, OpenInterest } from './MarketFigures.tsx'
import { moveInList, nextSort, sortText, type ListedRow, type MarketSort, type SortKey } from './marketList.ts'
import { MarketStatusWord } from './MarketStatusText.tsx'

interface Column {
  readonly key: SortKey
  readonly header: string
  /** A tooltip; empty for none. */
  readonly note: string
}

const COLUMNS: readonly Column[] = [
  { key: 'market', header: 'Market', note: '' },
  { key: 'price', header: 'Price', note: 'Mark price' },
  { key: 'change', header: '24 h', note: 'Change over 24 hours' },
  { key: 'funding', header: 'Funding / h', note: 'Rate that longs pay per hour' },
  { key: 'openInterest', header: 'Open interest', note: 'Size of all open positions in USD' },
]

const SKELETON_ROWS = 12

export interface MarketTableProps {
  readonly tableRef: RefObject<HTMLTableElement>
  /** `null` while the markets are loading. */
  readonly rows: readonly ListedRow[] | null
  readonly sort: MarketSort
}

/** The table of markets. Arrow keys move between its rows, Enter opens one. */
export function MarketTable({ tableRef, rows, sort }: MarketTableProps) {
  const guided = rows?.find(({ market }) => market.isOpen)
  return (
    <table class="market-table" ref={tableRef} aria-busy={rows === null} onKeyDown={moveFocus}>
      <caption class="visually-hidden">Markets, with price, change, funding and open interest</caption>
      <thead>
        <tr>
          <th scope="col" class="market-cell-star">
            <span class="visually-hidden">Favourite</span>
          </th>
          {COLUMNS.map((column) => (
            <SortHeader key={column.key} column={column} sort={sort} />
          ))}
          <th scope="col" class="market-cell-status">
            Status
          </th>
        </tr>
      </thead>
      <tbody>
        {rows === null
          ? Array.from({ length: SKELETON_ROWS }, (_, index) => <SkeletonRow key={index} />)
          : rows.map((row) => <MarketRow key={row.market.symbol} row={row} isGuided={row === guided} />)}
      </tbody>
    </table>
  )
}

interface SortHeaderProps {
  readonly column: Column
  readonly sort: MarketSort
}

function SortHeader({ column: { key, header, note }, sort }: SortHeaderProps) {
  const isSorted = sort.key === key
  const direction = sort.isDescending ? 'descending' : 'ascending'
  return (
    <th scope="col" class={`market-cell-${key}`} aria-sort={isSorted ? direction : undefined}>
      <button
        type="button"
        class="market-sort"
        title={note === '' ? undefined : note}
        onClick={() => setQuery({ sort: sortText(nextSort(sort, key)) })}
      >
        {header}
        <span class="market-sort-arrow" aria-hidden="true">
          {isSorted ? (sort.isDescending ? '↓' : '↑') : ''}
        </span>
      </button>
    </th>
  )
}

function MarketRow({ row: { market }, isGuided }: { readonly row: ListedRow; readonly isGuided: boolean }) {
  const { symbol, base, quote } = market
  const open = (event: MouseEvent) => {
    if (event.target instanceof Element && event.target.closest('a, button') !== null) return
    navigate(tradePath(symbol))
  }
  return (
    <tr class="market-row" data-testid={`market-row-${symbol.replace('/', '-')}`} onClick={open}>
      <td class="market-cell-star">
        <FavouriteButton symbol={symbol} />
      </td>
      <th scope="row" class="market-cell-market">
        <Link to={tradePath(symbol)} class="market-link" label={symbol} guide={isGuided ? 'market' : undefined}>
          {base}
          <span class="market-quote">/{quote}</span>
        </Link>
        <span class="market-under">
          <MarketStatusWord symbol={symbol} />
        </span>
      </th>
      <td class="market-cell-price">
        <MarkPrice symbol={symbol} />
      </td>
      <td class="market-cell-change">
        <DayChange symbol={symbol} />
      </td>
      <td class="market-cell-funding">
        <FundingRate market={market} />
      </td>
      <td class="market-cell-openInterest">
        <OpenInterest market={market} />
      </td>
      <td class="market-cell-status">
        <MarketStatusWord symbol={symbol} />
      </td>
    </tr>
  )
}

function SkeletonRow() {
  return (
    <tr class="market-row">
      <td class="market-cell-star" />
      {COLUMNS.map(({ key }) => (
        <td key={key} class={`market-cell-${key}`}>
          <Skeleton width="7ch" />
        </td>
      ))}
      <td class="market-cell-status" />
    </tr>
  )
}

/** Moves the focus between the links of a list of markets. */
export function moveFocus(event: KeyboardEvent & { readonly currentTarget: Element }): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('.market-link')]
  const index = links.findIndex((link) => link === document.activeElement)
  const next = index === -1 ? null : moveInList(event.key, index, links.length)
  if (next === null) return
  event.preventDefault()
  links[next]?.focus()
}
