import type { FillHistoryEntry } from '@bezel/sdk'
import { useEffect } from 'preact/hooks'
import { Link, tradePath } from '../router/router.ts'
import { fills } from '../data/account.ts'
import { Badge } from '../ui/Badge.tsx'
import { DataTable, type Column } from '../ui/DataTable.tsx'
import { Empty } from '../ui/Empty.tsx'
import { Money, PriceText } from '../ui/Money.tsx'
import { Time } from '../ui/Time.tsx'
import { AccountGate } from './AccountGate.tsx'
import { mountDialogs } from './dialogHost.tsx'
import { openTimeline } from './timelineLink.ts'
import { actionWord } from './words.ts'
import './portfolio.css'

interface FillsTableProps {
  /** Symbol of the only market whose fills are shown. Default: all markets. */
  readonly market?: string | undefined
}

/** Number of executions that the live table shows; the history has all. */
const MAX_SHOWN = 8

/** The last executions with profit and fees. */
export function FillsTable({ market }: FillsTableProps) {
  useEffect(mountDialogs, [])
  const all = fills.value
  const rows = all?.filter((entry) => market === undefined || entry.market === market).slice(0, MAX_SHOWN) ?? null
  return (
    <AccountGate what="fills">
      <DataTable
        caption={market === undefined ? 'Last fills' : `Last fills in ${market}`}
        columns={FILL_COLUMNS}
        rows={rows}
        rowKey={({ id }) => String(id)}
        rowTestId={({ id }) => `fill-${id}`}
        empty={<Empty title="Nothing was executed yet.">Fills appear here the moment they happen.</Empty>}
        testId="fills"
      />
    </AccountGate>
  )
}

/** The columns that the live fills and the history of fills share. */
export const FILL_COLUMNS: readonly Column<FillHistoryEntry>[] = [
  { id: 'time', header: 'Time', cell: ({ timestamp }) => <Time ms={timestamp} /> },
  { id: 'market', header: 'Market', cell: (entry) => <MarketCell entry={entry} /> },
  { id: 'action', header: 'What', cell: ({ action }) => <ActionCell action={action} /> },
  {
    id: 'size',
    header: 'Size',
    align: 'end',
    cell: ({ size, market }) => <Money amount={size} symbol={market?.split('/')[0]} decimals={8} />,
  },
  {
    id: 'price',
    header: 'Price',
    align: 'end',
    cell: ({ price }) => (price === '0' ? '–' : <PriceText value={price} />),
  },
  {
    id: 'pnl',
    header: 'Price profit',
    align: 'end',
    hideBelow: 'md',
    cell: ({ pnl, collateralSymbol }) => <Money amount={pnl} symbol={collateralSymbol ?? undefined} tone="auto" />,
  },
  {
    id: 'fee',
    header: 'Fee',
    align: 'end',
    hideBelow: 'sm',
    cell: ({ feeCollateral, collateralSymbol }) => (
      <Money amount={feeCollateral} symbol={collateralSymbol ?? undefined} />
    ),
  },
  {
    id: 'net',
    header: 'Net',
    align: 'end',
    cell: ({ netPnl, collateralSymbol }) => (
      <Money amount={netPnl} symbol={collateralSymbol ?? undefined} tone="auto" />
    ),
  },
  { id: 'order', header: 'Order', align: 'end', hideBelow: 'sm', cell: (entry) => <OrderCell entry={entry} /> },
]

function MarketCell({ entry: { market, side } }: { readonly entry: FillHistoryEntry }) {
  return (
    <span>
      {market === null ? 'Unlisted' : <Link to={tradePath(market)}>{market}</Link>}{' '}
      <span class={side === 'long' ? 'tone-up' : 'tone-down'}>{side}</span>
    </span>
  )
}

function ActionCell({ action }: Pick<FillHistoryEntry, 'action'>) {
  const { word, tone } = actionWord(action)
  return tone === 'none' ? <>{word}</> : <Badge tone={tone}>{word}</Badge>
}

function OrderCell({ entry: { orderId } }: { readonly entry: FillHistoryEntry }) {
  if (orderId === null) return <>–</>
  return (
    <button
      type="button"
      class="portfolio-link"
      aria-label={`Timeline of order ${orderId}`}
      onClick={() => openTimeline(orderId)}
    >
      {orderId}
    </button>
  )
}
