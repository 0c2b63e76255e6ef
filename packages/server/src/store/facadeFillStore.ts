import type { Address, ChainSlug, Fill, FillHistoryEntry, OrderId } from '@bezel/protocol'
import type { OrderEvent, OrderRequest } from '../trading/orders/orderModel.ts'
import { fromExactJson, type Sql } from './sql.ts'
import { entryOf, NEWEST_FILL, type FillCursor, type OrderFillRow } from './fillStore.ts'

/** The order that an execution filled. */
interface FilledOrder {
  readonly id: OrderId
  readonly clientId: string | null
  readonly originKey: string | null
  /** Symbol of the token in which fees were paid. */
  readonly collateral: string
  readonly feeCollateral: string
  /** Number of positions that the order closes; each is closed by an execution of its own. */
  readonly legCount: number
}

/** An execution with its order. */
export interface OrderFill {
  readonly fill: FillHistoryEntry
  readonly pairIndex: number
  /** The filled order; `undefined` when it was made before the follower's first block. */
  readonly order: FilledOrder | undefined
  readonly cursor: FillCursor
}

interface Row extends OrderFillRow {
  readonly pair_index: bigint
  readonly origin_key: string | null
  readonly request: string | null
  readonly event: string | null
}

/**
 * Lists up to `limit` fills before `cursor`, newest first. A fill and the event that filled its order come from the
 * same log, on which they are joined.
 */
export async function listOrderFills(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly trader: Address
    readonly cursor: FillCursor | undefined
    readonly limit: number
  },
): Promise<OrderFill[]> {
  const { blockNumber, logIndex } = of.cursor ?? NEWEST_FILL
  const rows = await sql.all<Row>(
    `select fills.body, fills.pair_index, fills.block_number, fills.log_index,
       orders.id as order_id, orders.client_id, orders.origin_key, orders.request, order_events.body as event
     from fills
     left join order_events on order_events.chain = fills.chain and order_events.block_hash = fills.block_hash
       and order_events.log_index = fills.log_index
     left join orders on orders.id = order_events.order_id
     where fills.chain = $1 and fills.trader = $2 and (fills.block_number, fills.log_index) < ($3, $4)
     order by fills.block_number desc, fills.log_index desc limit $5`,
    of.chain,
    of.trader,
    blockNumber,
    logIndex,
    of.limit,
  )
  return rows.map(orderFill)
}

function orderFill(row: Row): OrderFill {
  return {
    fill: entryOf(row),
    pairIndex: Number(row.pair_index),
    order: filledOrder(row),
    cursor: { blockNumber: Number(row.block_number), logIndex: Number(row.log_index) },
  }
}

function filledOrder({ order_id, client_id, origin_key, request, event }: Row): FilledOrder | undefined {
  if (order_id === null || request === null || event === null) return undefined
  const executed = fromExactJson<OrderEvent>(event)
  const { collateral, legs } = JSON.parse(request) as OrderRequest
  const fill: Pick<Fill, 'feeCollateral'> = executed.kind === 'executed' ? executed.fill : { feeCollateral: '0' }
  return {
    id: String(order_id) as OrderId,
    clientId: client_id,
    originKey: origin_key,
    collateral,
    feeCollateral: fill.feeCollateral,
    legCount: legs.length,
  }
}
