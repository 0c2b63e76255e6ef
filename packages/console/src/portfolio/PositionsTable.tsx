import type { Position } from '@bezel/sdk'
import { useEffect } from 'preact/hooks'
import { Link, tradePath } from '../router/router.ts'
import { positions } from '../data/account.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { DataTable, type Column } from '../ui/DataTable.tsx'
import { Empty } from '../ui/Empty.tsx'
import { Money, PriceText } from '../ui/Money.tsx'
import { AccountGate } from './AccountGate.tsx'
import { LiveLiquidation, LiveMark, LivePnl, LiveSize } from './LiveValue.tsx'
import { PendingUpdateRow } from './PendingUpdateRow.tsx'
import { mountDialogs } from './dialogHost.tsx'
import { editPosition } from './dialogs.ts'
import './portfolio.css'

interface PositionsTableProps {
  /** Symbol of the only market whose positions are shown. Default: all markets. */
  readonly market?: string | undefined
}

/** The open positions at the newest marks, with their buttons. */
export function PositionsTable({ market }: PositionsTableProps) {
  useEffect(mountDialogs, [])
  const all = positions.value
  const rows = all === null || market === undefined ? all : all.filter((position) => position.market === market)
  const first = rows?.[0]?.id
  return (
    <AccountGate what="positions">
      <DataTable
        caption={market === undefined ? 'Open positions' : `Open positions in ${market}`}
        columns={columnsOf(first)}
        rows={rows}
        rowKey={({ id }) => id}
        rowTestId={({ id }) => `position-${id}`}
        detail={(position) => (position.pendingUpdate === null ? null : <PendingUpdateRow position={position} />)}
        empty={<NoPositions market={market} />}
        testId="positions"
      />
    </AccountGate>
  )
}

function NoPositions({ market }: PositionsTableProps) {
  return (
    <Empty title={market === undefined ? 'No open position.' : `No open position in ${market}.`}>
      {market === undefined ? <Link to="/markets">Choose a market</Link> : 'Choose a side and a size in the ticket.'}
    </Empty>
  )
}

/** Returns the columns. The guided first minute points at the close button of the first position. */
function columnsOf(first: string | undefined): readonly Column<Position>[] {
  return [
    { id: 'market', header: 'Market', cell: (position) => <MarketCell position={position} /> },
    { id: 'size', header: 'Size', align: 'end', cell: (position) => <LiveSize position={position} /> },
    { id: 'mark', header: 'Entry / mark', align: 'end', cell: (position) => <LiveMark position={position} /> },
    {
      id: 'liquidation',
      header: 'Liquidation',
      align: 'end',
      cell: (position) => <LiveLiquidation position={position} />,
    },
    {
      id: 'margin',
      header: 'Margin',
      align: 'end',
      hideBelow: 'md',
      cell: ({ collateral, collateralSymbol }) => <Money amount={collateral} symbol={collateralSymbol} />,
    },
    { id: 'pnl', header: 'Profit', align: 'end', cell: (position) => <LivePnl position={position} /> },
    { id: 'stops', header: 'TP / SL', align: 'end', cell: (position) => <StopsCell position={position} /> },
    {
      id: 'actions',
      header: 'Actions',
      align: 'end',
      hideHeader: true,
      cell: ({ id }) => <Actions id={id} isFirst={id === first} />,
    },
  ]
}

function MarketCell({ position: { market, side, leverage } }: { readonly position: Position }) {
  return (
    <span class="portfolio-two">
      <Link to={tradePath(market)} class="portfolio-market">
        {market}
      </Link>
      <span>
        <Badge tone={side === 'long' ? 'good' : 'bad'}>{side === 'long' ? '▲ Long' : '▼ Short'}</Badge>{' '}
        <span class="number">{leverage}×</span>
      </span>
    </span>
  )
}

function StopsCell({ position: { id, tp, sl } }: { readonly position: Position }) {
  const price = (text: string) => (text === '0' ? '–' : <PriceText value={text} />)
  return (
    <button
      type="button"
      class="portfolio-two portfolio-link"
      data-testid={`position-stops-${id}`}
      onClick={() => editPosition(id, 'tp')}
    >
      <span class="visually-hidden">Change take profit and stop loss: </span>
      <span>TP {price(tp)}</span>
      <span>SL {price(sl)}</span>
    </button>
  )
}

function Actions({ id, isFirst }: { readonly id: string; readonly isFirst: boolean }) {
  return (
    <span class="portfolio-actions">
      <Button small testId={`position-edit-${id}`} onClick={() => editPosition(id, 'leverage')}>
        Edit
      </Button>
      <Button
        small
        kind="danger"
        testId={`position-close-${id}`}
        guide={isFirst ? 'close' : undefined}
        onClick={() => editPosition(id, 'close')}
      >
        Close
      </Button>
    </span>
  )
}
