import type { Address, ChainSlug, Hex, OrderId } from '@bezel/protocol'
import type { OrderEvent } from '../trading/orders/orderModel.ts'
import { pointRead } from './pointReads.ts'
import { insertInto } from './rows.ts'
import { fromExactJson, toExactJson, type Sql } from './sql.ts'

/**
 * The name of an order on the chain: its pending-order index or, for a resting order, its trade index. Both are counted
 * per trader.
 */
export type OrderHandle = `pending:${number}` | `trade:${number}`

/** A handle, and the order or position that it belonged to at some time. */
export interface HeldHandle {
  readonly handle: OrderHandle
  readonly holder: `order:${OrderId}` | `position:${OrderId}`
}

const INSERT_EVENT = insertInto('order_events', [
  'chain',
  'block_hash',
  'log_index',
  'block_number',
  'order_id',
  'trader',
  'handle',
  'body',
])

export async function insertOrderEvent(
  sql: Sql,
  of: {
    readonly chain: ChainSlug
    readonly trader: Address
    readonly orderId: OrderId
    /** Handle that the order gets by this event; `null` when it gets none. */
    readonly handle: OrderHandle | null
    readonly event: OrderEvent
  },
): Promise<void> {
  sql.write(
    INSERT_EVENT,
    of.chain,
    of.event.blockHash,
    of.event.logIndex,
    of.event.blockNumber,
    BigInt(of.orderId),
    of.trader,
    of.handle,
    toExactJson(of.event),
  )
}

const LIST_EVENTS = pointRead(
  'select body from order_events where order_id = $1 order by block_number, log_index',
  'bigint',
)

/** Lists the events of an order in chain order. */
export async function listOrderEvents(sql: Sql, orderId: OrderId): Promise<OrderEvent[]> {
  const rows = await sql.all<{ body: string }>(LIST_EVENTS, BigInt(orderId))
  return rows.map(({ body }) => fromExactJson<OrderEvent>(body))
}

const FIND_BY_HANDLE = pointRead(
  'select order_id from order_events where chain = $1 and trader = $2 and handle = $3',
  'text',
  'text',
  'text',
)

export async function findOrderIdByHandle(
  sql: Sql,
  chain: ChainSlug,
  trader: Address,
  handle: OrderHandle,
): Promise<OrderId | undefined> {
  const row = await sql.get<{ order_id: bigint }>(FIND_BY_HANDLE, chain, trader, handle)
  return row === undefined ? undefined : (String(row.order_id) as OrderId)
}

/** Finds the order that has an event at this place, and the attempt of the event. */
export async function findOrderEventAt(
  sql: Sql,
  chain: ChainSlug,
  { blockHash, logIndex }: Pick<OrderEvent, 'blockHash' | 'logIndex'>,
): Promise<(Pick<OrderEvent, 'attemptId'> & { readonly orderId: OrderId }) | undefined> {
  const row = await sql.get<{ order_id: bigint; body: string }>(
    'select order_id, body from order_events where chain = $1 and block_hash = $2 and log_index = $3',
    chain,
    blockHash,
    logIndex,
  )
  if (row === undefined) return undefined
  return { orderId: String(row.order_id) as OrderId, attemptId: fromExactJson<OrderEvent>(row.body).attemptId }
}

/** Lists the orders that have an event in this transaction. */
export async function listOrdersOfTransaction(
  sql: Sql,
  chain: ChainSlug,
  { blockHash, txHash }: Pick<OrderEvent, 'blockHash' | 'txHash'>,
): Promise<OrderId[]> {
  const rows = await sql.all<{ order_id: bigint; body: string }>(
    'select order_id, body from order_events where chain = $1 and block_hash = $2',
    chain,
    blockHash,
  )
  const ofIt = rows.filter(({ body }) => fromExactJson<OrderEvent>(body).txHash === txHash)
  return [...new Set(ofIt.map(({ order_id }) => String(order_id) as OrderId))]
}

/** Moves all events of one order to another. */
export async function moveOrderEvents(sql: Sql, from: OrderId, to: OrderId): Promise<void> {
  sql.write('update order_events set order_id = $2 where order_id = $1', BigInt(from), BigInt(to))
}

/** Deletes the order events of a block. Returns the orders to be folded again. */
export async function deleteOrderEvents(sql: Sql, chain: ChainSlug, blockHash: Hex): Promise<OrderId[]> {
  const rows = await sql.all<{ order_id: bigint }>(
    'delete from order_events where chain = $1 and block_hash = $2 returning order_id',
    chain,
    blockHash,
  )
  return [...new Set(rows.map(({ order_id }) => String(order_id) as OrderId))]
}
