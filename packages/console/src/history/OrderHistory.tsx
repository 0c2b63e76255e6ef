import type { Order } from '@bezel/sdk'
import { recentOrders } from '../data/account.ts'
import { ORDER_COLUMNS } from '../portfolio/OrdersTable.tsx'
import { openTimeline } from '../portfolio/timelineLink.ts'
import { DataTable, type Column } from '../ui/DataTable.tsx'
import { Empty } from '../ui/Empty.tsx'
import { MoreButton } from './MoreButton.tsx'
import { mergeOrders } from './mergeEntries.ts'
import { usePages } from './usePages.ts'

const COLUMNS: readonly Column<Order>[] = [
  {
    id: 'id',
    header: 'Order',
    cell: ({ id }) => (
      <button
        type="button"
        class="portfolio-link"
        aria-label={`Timeline of order ${id}`}
        onClick={() => openTimeline(id)}
      >
        {id}
      </button>
    ),
  },
  ...ORDER_COLUMNS,
]

/** All orders of the account, newest first, page by page. Those that change are kept up to date. */
export function OrderHistory() {
  const pages = usePages((client, options) => client.account.orderHistory(options))
  const { items, isComplete, problem } = pages
  const rows = items === null ? null : mergeOrders(items, recentOrders.value ?? [], isComplete)
  return (
    <>
      {(rows !== null || problem === null) && (
        <DataTable
          caption="All orders"
          columns={COLUMNS}
          rows={rows}
          rowKey={({ id }) => id}
          rowTestId={({ id }) => `history-order-${id}`}
          empty={<Empty title="No order yet.">Your first one appears here with everything that became of it.</Empty>}
          testId="order-history"
        />
      )}
      <MoreButton pages={pages} what="orders" />
    </>
  )
}
