import type { FillHistoryEntry, OrderId } from '@bezel/protocol'
import type { OrderEvent, OrderRequest } from '../trading/orders/orderModel.ts'
import { fromExactJson, type Sql } from './sql.ts'
import { entryOf, type FillCursor, type OrderFillRow } from './fillStore.ts'

/** The order that an execution filled. */
interface FilledOrder {
  readonly id: OrderId
  readonly clientId: string | null
  readonly originKey: string | null
  /** Number of positions that the order closes; each is closed by an execution of its own. */
  readonly legCount: number
  /** Amounts of an execution from before fills had them; `undefined` when the fill has its own. */
  readonly amounts: OldAmounts | undefined
}

interface OldAmounts {
  /** Symbol of the token in which fees were paid. */
  readonly collateral: string
  readonly feeCollateral: string
}

/** An execution with its order. */
export interface OrderFill {
  readonly fill: FillHistoryEntry
  /** The filled order; `undefined` when it was made before the follower's first block. */
  readonly order: FilledOrder | undefined
  readonly cursor: FillCursor
}

interface Row extends OrderFillRow {
  readonly origin_key: string | null
  readonly request: string | null
  readonly event: string | null
}

/** Largest number of fills in one read. */
export const MAX_ORDER_FILLS = 200

const PLACEHOLDERS = Array.from({ length: MAX_ORDER_FILLS }, (_, at) => `$${at + 1}`).join(', ')

/**
 * Reads up to `MAX_ORDER_FILLS` fills by their ids. An id that is not known is left out. A fill and the event that
 * filled its order come from the same log, on which they are joined.
 */
export async function readOrderFills(sql: Sql, ids: readonly number[]): Promise<ReadonlyMap<number, OrderFill>> {
  // One statement serves every number of ids; no fill has the id 0.
  const params = Array.from({ length: MAX_ORDER_FILLS }, (_, at) => ids[at] ?? 0)
  const rows = await sql.all<Row>(
    `select fills.body, fills.block_number, fills.log_index,
       orders.id as order_id, orders.client_id, orders.origin_key, orders.request, order_events.body as event
     from fills
     left join order_events on order_events.chain = fills.chain and order_events.block_hash = fills.block_hash
       and order_events.log_index = fills.log_index
     left join orders on orders.id = order_events.order_id
     where fills.id in (${PLACEHOLDERS})`,
    ...params,
  )
  return new Map(rows.map(orderFill).map((found) => [found.fill.id, found]))
}

function orderFill(row: Row): OrderFill {
  const fill = entryOf(row)
  const cursor = { blockNumber: Number(row.block_number), logIndex: Number(row.log_index) }
  return { fill, cursor, order: filledOrder(row, fill) }
}

/** The part of a stored request that says that it has no legs. Most requests have it, and parsing them is slow. */
const NO_LEGS = '"legs":[]'

function filledOrder(row: Row, fill: FillHistoryEntry): FilledOrder | undefined {
  const { order_id, client_id, origin_key, request, event } = row
  if (order_id === null || request === null || event === null) return undefined
  return {
    id: String(order_id) as OrderId,
    clientId: client_id,
    originKey: origin_key,
    legCount: request.includes(NO_LEGS) ? 0 : (JSON.parse(request) as OrderRequest).legs.length,
    amounts: fill.feeCollateral === null || fill.collateralSymbol === null ? oldAmounts(request, event) : undefined,
  }
}

function oldAmounts(request: string, event: string): OldAmounts {
  const executed = fromExactJson<OrderEvent>(event)
  return {
    collateral: (JSON.parse(request) as OrderRequest).collateral,
    feeCollateral: executed.kind === 'executed' ? executed.fill.feeCollateral : '0',
  }
}
