import type { ChainSlug } from '@bezel/protocol'
import type { StoredFill } from '../../store/fillStore.ts'
import { fromExactJson, toExactJson, type Store } from '../../store/sql.ts'
import type { OrderEvent, OrderRequest, OrderState } from '../../trading/orders/orderModel.ts'
import type { PositionEvent, PositionState } from '../../trading/positions/positionModel.ts'

/**
 * The content of a store for one chain, without the ids it assigned: orders and positions are named by the place of
 * their first event. Two stores that followed the same chain, in whatever way, have equal descriptions.
 */
interface StoreDescription {
  /** Block number and hash of the cursor. */
  readonly cursor: string
  readonly orders: readonly unknown[]
  readonly positions: readonly unknown[]
  readonly fills: readonly unknown[]
}

export interface DescribeOptions {
  /**
   * True to compare the requests and attempts too. Must be false when some orders were prepared by the service, because
   * the chain tells neither the whole request nor the attempt. Status, fills and reasons are always compared.
   */
  readonly withRequests: boolean
}

interface EventRow {
  readonly owner: bigint
  readonly handle: string | null
  readonly body: string
}

export async function describeStore(
  { read }: Store,
  chain: ChainSlug,
  { withRequests }: DescribeOptions,
): Promise<StoreDescription> {
  const orderEvents = await read.all<EventRow>(
    'select order_id as owner, handle, body from order_events where chain = $1 order by block_number, log_index',
    chain,
  )
  const positionEvents = await read.all<EventRow>(
    'select position_id as owner, null as handle, body from position_events where chain = $1 order by block_number, log_index',
    chain,
  )
  const orderNames = namesOf(orderEvents)
  const positionNames = namesOf(positionEvents)
  const nameOf = (id: string | null): string | null => (id === null ? null : (positionNames.get(id) ?? `unknown ${id}`))

  const orderRows = await read.all<{ id: bigint; trader: string; request: string; state: string | null }>(
    'select id, trader, request, state from orders where chain = $1 and state is not null',
    chain,
  )
  const positionRows = await read.all<{ id: bigint; trader: string; origin_order_id: bigint; state: string | null }>(
    'select id, trader, origin_order_id, state from positions where chain = $1 and state is not null',
    chain,
  )
  const fillRows = await read.all<{ block_hash: string; log_index: bigint; trader: string; body: string }>(
    'select block_hash, log_index, trader, body from fills where chain = $1 order by block_number, log_index',
    chain,
  )
  const cursor = await read.get<{ number: bigint; hash: string }>(
    'select number, hash from blocks where chain = $1 order by number desc limit 1',
    chain,
  )
  const seen = orderRows.filter(({ id }) => orderNames.has(String(id)))
  return {
    cursor: `${cursor?.number} ${cursor?.hash}`,
    orders: byName(
      seen.map((row) => ({
        name: orderNames.get(String(row.id))!,
        trader: row.trader,
        events: orderEvents
          .filter(({ owner }) => owner === row.id)
          .map(({ handle, body }) => ({ handle, ...orderEventOf(fromExactJson<OrderEvent>(body), nameOf) })),
        state: stateOf(JSON.parse(row.state!) as OrderState, nameOf, withRequests),
        request: withRequests ? requestOf(JSON.parse(row.request) as OrderRequest, nameOf) : undefined,
      })),
    ),
    positions: byName(
      positionRows.map((row) => ({
        name: positionNames.get(String(row.id))!,
        trader: row.trader,
        origin: orderNames.get(String(row.origin_order_id)) ?? 'an order without events',
        events: positionEvents
          .filter(({ owner }) => owner === row.id)
          .map(({ body }) => plain(fromExactJson<PositionEvent>(body))),
        state: plain(fromExactJson<PositionState>(row.state!)),
      })),
    ),
    fills: fillRows.map(({ block_hash, log_index, trader, body }) => {
      const { id: _, positionId, ...fill } = JSON.parse(body) as StoredFill
      const position = fill.action === 'TradeOpenRefused' ? orderNames.get(positionId) : nameOf(positionId)
      return { place: `${block_hash}:${log_index}`, trader, position, ...fill }
    }),
  }
}

/** Returns the name of each order or position: the place of its first event. */
function namesOf(rows: readonly EventRow[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { owner, body } of rows) {
    const { blockHash, logIndex } = fromExactJson<OrderEvent>(body)
    if (!names.has(String(owner))) names.set(String(owner), `${blockHash}:${logIndex}`)
  }
  return names
}

type NameOf = (id: string | null) => string | null

function orderEventOf({ attemptId: _, ...event }: OrderEvent, nameOf: NameOf): object {
  if (event.kind !== 'executed') return plain(event)
  return plain({ ...event, fill: { ...event.fill, positionId: nameOf(event.fill.positionId) } })
}

function stateOf(state: OrderState, nameOf: NameOf, withRequests: boolean): object {
  const fill = state.fill === null ? null : { ...state.fill, positionId: nameOf(state.fill.positionId) }
  if (withRequests) return plain({ ...state, fill })
  const { status, reason, txHash, tradeIndex, unanswered } = state
  return plain({ status, reason, txHash, tradeIndex, unanswered, fill })
}

function requestOf(request: OrderRequest, nameOf: NameOf): object {
  return { ...request, legs: request.legs.map((leg) => ({ ...leg, positionId: nameOf(leg.positionId) })) }
}

function byName<Named extends { readonly name: string }>(named: readonly Named[]): readonly Named[] {
  return named.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
}

/** Converts bigints to text, so that differences print well. */
function plain(value: unknown): object {
  return JSON.parse(toExactJson(value)) as object
}
