import type { Order } from '@bezel/sdk'
import { useEffect } from 'preact/hooks'
import { Link, tradePath } from '../router/router.ts'
import { openOrders, recentOrders } from '../data/account.ts'
import { isOpenOrder } from '../data/accountState.ts'
import { serverNow } from '../data/now.ts'
import { problemOfAction } from '../session/act.ts'
import { Badge } from '../ui/Badge.tsx'
import { Button } from '../ui/Button.tsx'
import { DataTable, type Column } from '../ui/DataTable.tsx'
import { Empty } from '../ui/Empty.tsx'
import { Money, PriceText } from '../ui/Money.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { Time } from '../ui/Time.tsx'
import { AccountGate } from './AccountGate.tsx'
import { EndOrderButton } from './EndOrderButton.tsx'
import { actionName } from './actions.ts'
import { mountDialogs } from './dialogHost.tsx'
import { changeOrder } from './dialogs.ts'
import { listedOrders } from './orderList.ts'
import { openTimeline } from './timelineLink.ts'
import { kindWord, positionSide, statusWord } from './words.ts'
import './portfolio.css'

interface OrdersTableProps {
  /** Symbol of the only market whose orders are shown. Default: all markets. */
  readonly market?: string | undefined
}

/** The open orders and those that ended a moment ago, with their buttons. */
export function OrdersTable({ market }: OrdersTableProps) {
  useEffect(mountDialogs, [])
  const open = openOrders.value
  const rows = open === null ? null : listedOrders(open, recentOrders.value ?? [], { market, nowMs: serverNow() })
  return (
    <AccountGate what="orders">
      <DataTable
        caption={market === undefined ? 'Open orders' : `Open orders in ${market}`}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        rowTestId={({ id }) => `order-${id}`}
        rowClass={(order) => (isOpenOrder(order) ? undefined : 'portfolio-ended')}
        detail={detailOf}
        empty={
          <Empty title="No open order.">
            A limit or stop order rests here until its price is reached. Make one in the ticket of a market.
          </Empty>
        }
        testId="orders"
      />
    </AccountGate>
  )
}

function detailOf({ id }: Order) {
  const problem = problemOfAction(actionName.cancelOrder(id)).value
  return problem === null ? null : <ProblemNotice problem={problem} />
}

/** The columns that the open orders and the history of orders share. */
export const ORDER_COLUMNS: readonly Column<Order>[] = [
  { id: 'market', header: 'Market', cell: (order) => <MarketCell order={order} /> },
  { id: 'kind', header: 'Kind', cell: kindWord },
  {
    id: 'size',
    header: 'Size',
    align: 'end',
    cell: ({ size, fill, market }) => <Money amount={fill?.size ?? size} symbol={market.split('/')[0]} decimals={8} />,
  },
  {
    id: 'price',
    header: 'Price',
    align: 'end',
    cell: ({ price, fill }) => (fill === null && price === null ? '–' : <PriceText value={fill?.price ?? price} />),
  },
  {
    id: 'stops',
    header: 'TP / SL',
    align: 'end',
    hideBelow: 'md',
    cell: ({ tp, sl }) =>
      tp === null && sl === null ? (
        '–'
      ) : (
        <span class="portfolio-two">
          {tp !== null && (
            <span>
              TP <PriceText value={tp} />
            </span>
          )}
          {sl !== null && (
            <span>
              SL <PriceText value={sl} />
            </span>
          )}
        </span>
      ),
  },
  { id: 'status', header: 'State', cell: (order) => <StatusCell order={order} /> },
  {
    id: 'time',
    header: 'Time',
    align: 'end',
    hideBelow: 'sm',
    cell: ({ createdAt }) => <Time ms={createdAt} />,
  },
]

const COLUMNS: readonly Column<Order>[] = [
  ...ORDER_COLUMNS,
  { id: 'actions', header: 'Actions', align: 'end', hideHeader: true, cell: (order) => <Actions order={order} /> },
]

function MarketCell({ order }: { readonly order: Order }) {
  const { market } = order
  const side = positionSide(order)
  return (
    <span class="portfolio-two">
      <Link to={tradePath(market)} class="portfolio-market">
        {market}
      </Link>
      <span>
        <Badge tone={side === 'long' ? 'good' : 'bad'}>{side === 'long' ? '▲ Long' : '▼ Short'}</Badge>
      </span>
    </span>
  )
}

function StatusCell({ order }: { readonly order: Order }) {
  const { word, tone } = statusWord(order)
  return (
    <button
      type="button"
      class="portfolio-link"
      aria-label={`${word}. Timeline of order ${order.id}`}
      data-testid={`order-timeline-${order.id}`}
      data-status={order.status}
      onClick={() => openTimeline(order.id)}
    >
      <Badge tone={tone}>{word}</Badge>
    </button>
  )
}

function Actions({ order }: { readonly order: Order }) {
  const { id, status } = order
  return (
    <span class="portfolio-actions">
      {status === 'open' && (
        <Button small testId={`order-change-${id}`} onClick={() => changeOrder(id)}>
          Change
        </Button>
      )}
      <EndOrderButton order={order} />
    </span>
  )
}
