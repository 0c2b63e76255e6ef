import assert from 'node:assert/strict'
import type { ChainSlug } from '@bezel/protocol'
import type { StoredFill } from '../../store/fillStore.ts'
import { fromExactJson, toExactJson, type Sql, type Store } from '../../store/sql.ts'
import type { OrderEvent, OrderState } from '../../trading/orders/orderModel.ts'
import type { PositionEvent } from '../../trading/positions/positionModel.ts'

/**
 * Fails unless two stores tell the same of what happened after a block: every event of orders and positions, every
 * fill, and how each order ended that had such an event. They may differ in ids, and in what an order was before that
 * block.
 */
export async function expectSameSince(ours: Store, reference: Store, chain: ChainSlug, block: number): Promise<void> {
  assert.deepEqual(await describeSince(ours.read, chain, block), await describeSince(reference.read, chain, block))
}

interface Row {
  readonly block_hash: string
  readonly log_index: bigint
  readonly body: string
}

async function describeSince(sql: Sql, chain: ChainSlug, block: number): Promise<unknown> {
  const listSince = <Found extends Row>(columns: string, table: string): Promise<Found[]> =>
    sql.all<Found>(
      `select ${columns}, block_hash, log_index, body from ${table} where chain = $1 and block_number > $2
       order by block_number, log_index`,
      chain,
      block,
    )
  const orderEvents = await listSince<Row & { handle: string | null; order_id: bigint }>(
    'handle, order_id',
    'order_events',
  )
  const orders: unknown[] = []
  for (const id of new Set(orderEvents.map(({ order_id }) => order_id))) {
    const { state } = (await sql.get<{ state: string }>('select state from orders where id = $1', id))!
    const { status, reason, fill, tradeIndex, unanswered, dueBlock } = fromExactJson<OrderState>(state)
    orders.push({ status, reason, fill: withoutPosition(fill), tradeIndex, unanswered, dueBlock })
  }
  return {
    orderEvents: orderEvents.map((row) => ({ ...placeOf(row), handle: row.handle, event: orderEventOf(row) })),
    orders,
    positionEvents: (await listSince('null as handle', 'position_events')).map((row) => ({
      ...placeOf(row),
      event: plain(fromExactJson<PositionEvent>(row.body)),
    })),
    fills: (await listSince('trader', 'fills')).map((row) => {
      const { id: _, positionId: __, ...fill } = JSON.parse(row.body) as StoredFill
      return { ...placeOf(row), ...fill }
    }),
  }
}

function placeOf({ block_hash, log_index }: Row): object {
  return { place: `${block_hash}:${log_index}` }
}

function orderEventOf({ body }: Row): object {
  const { attemptId: _, ...event } = fromExactJson<OrderEvent>(body)
  return plain(event.kind === 'executed' ? { ...event, fill: withoutPosition(event.fill) } : event)
}

function withoutPosition<Fill extends { readonly positionId: unknown }>(fill: Fill | null): object | null {
  if (fill === null) return null
  const { positionId: _, ...others } = fill
  return others
}

/** Converts bigints to text, so that differences print well. */
function plain(value: unknown): object {
  return JSON.parse(toExactJson(value)) as object
}
