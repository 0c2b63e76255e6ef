import { Usd, type Address, type ChainSlug, type OrderId, type OrderStatus } from '@bezel/protocol'
import type { OrderRecord, OrderRequest, OrderState } from '../trading/orders/orderModel.ts'
import { takeIds } from './ids.ts'
import { pointRead } from './pointReads.ts'
import { insertInto, RANK, updateByKey } from './rows.ts'
import type { Sql, SqlValue } from './sql.ts'

/** An order as stored: its fixed part and its last computed state. */
export interface StoredOrder {
  readonly record: OrderRecord
  /** Last computed state; `undefined` when the order was found on blocks since undone and does not exist now. */
  readonly state: OrderState | undefined
  /** UTC day to which its spend is charged; `undefined` while it does not count. */
  readonly spendDay: number | undefined
}

interface OrderRow {
  readonly id: bigint
  readonly chain: string
  readonly trader: string
  readonly agent: string | null
  readonly origin_key: string | null
  readonly request: string
  readonly created_at: bigint
  readonly spend_usd: string
  readonly spend_day: bigint | null
  readonly state: string | null
}

const COLUMNS = 'id, chain, trader, agent, origin_key, request, created_at, spend_usd, spend_day, state'
const LIVE = `status in ('prepared', 'pending', 'open', 'timed_out')`

const INSERT_ORDER = insertInto(
  'orders',
  ['id', 'chain', 'trader', 'agent', 'client_id', 'origin_key', 'request', 'created_at', 'spend_usd'],
  RANK.parents,
)

/** Inserts an order without a state, which the fold writes. */
export async function insertOrder(sql: Sql, record: OrderRecord): Promise<void> {
  sql.write(
    INSERT_ORDER,
    BigInt(record.id),
    record.chain,
    record.trader,
    record.agent,
    record.request.clientId,
    record.originKey,
    JSON.stringify(record.request),
    BigInt(record.createdAtMs),
    String(record.spendUsd),
  )
}

/**
 * Replaces the agent, the request and the spend of an order, when it is prepared again after its transactions lapsed or
 * found anew after a reorganisation. Throws while the order counts.
 */
export async function renewOrder(sql: Sql, { id, agent, request, spendUsd }: OrderRecord): Promise<void> {
  const renewed = await sql.run(
    'update orders set agent = $2, request = $3, spend_usd = $4 where id = $1 and spend_day is null',
    BigInt(id),
    agent,
    JSON.stringify(request),
    String(spendUsd),
  )
  if (renewed !== 1) throw new Error(`order ${id} still counts and can't be renewed`)
}

const SAVE_STATE = updateByKey('orders', 'id', [
  'status',
  'state',
  'due_at',
  'due_block',
  'spend_day',
  'awaits_until',
  'filled_at',
])

export async function saveOrderState(
  sql: Sql,
  id: OrderId,
  state: OrderState | undefined,
  spendDay: number | undefined,
): Promise<void> {
  sql.write(
    SAVE_STATE,
    BigInt(id),
    state?.status ?? null,
    state === undefined ? null : JSON.stringify(state),
    state?.dueAtMs ?? null,
    state?.dueBlock ?? null,
    spendDay ?? null,
    state === undefined ? null : awaitsUntil(state),
    state?.status === 'filled' ? (state.fill?.timestamp ?? state.updatedAtMs) : null,
  )
}

/** Time for which the node is still asked about a reported transaction after its order was last updated: one day. */
const AWAITED_MS = 86_400_000

/**
 * Returns the time until which an order waits for the receipt of a reported hash; `null` when the order is on the chain
 * or nothing was reported.
 */
function awaitsUntil({ status, txHash, unanswered, updatedAtMs }: OrderState): number | null {
  const isUnmined = status === 'prepared' || status === 'expired' || (status === 'pending' && unanswered.length === 0)
  return isUnmined && txHash !== null ? updatedAtMs + AWAITED_MS : null
}

const FIND_ORDER = pointRead(`select ${COLUMNS} from orders where id = $1`, 'bigint')

export async function findOrder(sql: Sql, id: OrderId): Promise<StoredOrder | undefined> {
  return found(await sql.get<OrderRow>(FIND_ORDER, BigInt(id)))
}

export async function findOrderByClientId(
  sql: Sql,
  chain: ChainSlug,
  trader: Address,
  clientId: string,
): Promise<StoredOrder | undefined> {
  const where = 'chain = $1 and trader = $2 and client_id = $3'
  return found(await sql.get<OrderRow>(`select ${COLUMNS} from orders where ${where}`, chain, trader, clientId))
}

const FIND_BY_ORIGIN = pointRead(`select ${COLUMNS} from orders where chain = $1 and origin_key = $2`, 'text', 'text')

export async function findOrderByOrigin(
  sql: Sql,
  chain: ChainSlug,
  originKey: string,
): Promise<StoredOrder | undefined> {
  return found(await sql.get<OrderRow>(FIND_BY_ORIGIN, chain, originKey))
}

/** Lists the prepared, pending, open and timed-out orders of a trader, newest first. Default limit: all of them. */
export async function listLiveOrders(
  sql: Sql,
  chain: ChainSlug,
  trader: Address,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<StoredOrder[]> {
  return select(sql, `chain = $1 and trader = $2 and ${LIVE} order by id desc limit $3`, chain, trader, limit)
}

/** Lists the last `limit` filled orders of a trader, latest fill first. */
export async function listFilledOrders(
  sql: Sql,
  chain: ChainSlug,
  trader: Address,
  limit: number,
): Promise<StoredOrder[]> {
  const where = 'chain = $1 and trader = $2 and filled_at is not null order by filled_at desc, id desc limit $3'
  return select(sql, where, chain, trader, limit)
}

/** Lists up to `limit` orders of a trader with ids below `before`, newest first. */
export async function listOrders(
  sql: Sql,
  chain: ChainSlug,
  trader: Address,
  before: OrderId,
  limit: number,
): Promise<StoredOrder[]> {
  const where = 'chain = $1 and trader = $2 and id < $3 and status is not null order by id desc limit $4'
  return select(sql, where, chain, trader, BigInt(before), limit)
}

/** Lists the orders that are due to change by time or by the oracle's timeout in blocks, up to `limit` of each. */
export async function listDueOrders(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly nowMs: number; readonly headBlock: number; readonly limit: number },
): Promise<OrderId[]> {
  const [byTime, byBlock] = await Promise.all([
    sql.all<{ id: bigint }>(
      'select id from orders where chain = $1 and due_at is not null and due_at <= $2 limit $3',
      chain,
      of.nowMs,
      of.limit,
    ),
    sql.all<{ id: bigint }>(
      'select id from orders where chain = $1 and due_block is not null and due_block <= $2 limit $3',
      chain,
      of.headBlock,
      of.limit,
    ),
  ])
  return [...new Set([...byTime, ...byBlock].map(({ id }) => String(id) as OrderId))]
}

/**
 * Lists the timed-out orders with an event after this block: with fewer blocks on the chain, they may not have timed
 * out.
 */
export async function listTimedOutSince(sql: Sql, chain: ChainSlug, afterBlock: number): Promise<OrderId[]> {
  const rows = await sql.all<{ id: bigint }>(
    `select id from orders where chain = $1 and status = 'timed_out' and exists (
       select 1 from order_events where order_events.order_id = orders.id and order_events.block_number > $2
     )`,
    chain,
    afterBlock,
  )
  return rows.map(({ id }) => String(id) as OrderId)
}

/**
 * Lists the prepared orders of an agent, which count against its limit. Includes expired ones whose state is not
 * updated yet.
 */
export async function listPreparedOrders(sql: Sql, chain: ChainSlug, agent: Address): Promise<StoredOrder[]> {
  return select(sql, `chain = $1 and agent = $2 and status = 'prepared'`, chain, agent)
}

/**
 * Counts the transactions that an agent's prepared orders wait for. Orders of one transaction count once, and one that
 * was prepared again counts with its last transaction.
 */
export async function countPreparedTransactions(sql: Sql, chain: ChainSlug, agent: Address): Promise<number> {
  const row = await sql.get<{ count: bigint }>(
    `select count(distinct coalesce(
       (select attempt_id from attempt_orders where order_id = orders.id and kind = 'open' limit 1),
       (select attempts.id from attempts where order_id = orders.id and kind = 'open' order by created_at desc limit 1)
     )) as count from orders where chain = $1 and agent = $2 and status = 'prepared'`,
    chain,
    agent,
  )
  return Number(row!.count)
}

/** The number of orders of a page by status, as of a commit of each chain. */
export interface CountedOrders {
  readonly byStatus: ReadonlyMap<OrderStatus, number>
  /** The greatest id of the page; `undefined` for the last page. */
  readonly last: bigint | undefined
  /** The number of the last commit that is counted, by chain. */
  readonly asOf: ReadonlyMap<string, number>
}

/** Orders that one statement counts, so that it takes milliseconds. */
const COUNTED_AT_ONCE = 2_000

/**
 * Counts up to `limit` orders that come after an id, and reads the commits up to which they are counted, in one
 * statement and so at one moment.
 */
export async function countOrders(sql: Sql, after: bigint, limit = COUNTED_AT_ONCE): Promise<CountedOrders> {
  const rows = await sql.all<{ chain: string | null; status: string | null; count: bigint; last: bigint | null }>(
    `select null as chain, status, count(*) as count, max(id) as last
     from (select id, status from orders where id > $1 order by id limit $2) as page group by status
     union all select chain, null as status, commits as count, null as last from chain_times`,
    after,
    limit,
  )
  const byStatus = new Map<OrderStatus, number>()
  const asOf = new Map<string, number>()
  let [orders, last] = [0, after]
  for (const row of rows) {
    const count = Number(row.count)
    if (row.chain !== null) asOf.set(row.chain, count)
    else {
      orders += count
      if (row.last! > last) last = row.last!
      if (row.status !== null) byStatus.set(row.status as OrderStatus, count)
    }
  }
  return { byStatus, last: orders < limit ? undefined : last, asOf }
}

async function select(sql: Sql, where: string, ...params: readonly SqlValue[]): Promise<StoredOrder[]> {
  return (await sql.all<OrderRow>(`select ${COLUMNS} from orders where ${where}`, ...params)).map(toStored)
}

function found(row: OrderRow | undefined): StoredOrder | undefined {
  return row === undefined ? undefined : toStored(row)
}

function toStored(row: OrderRow): StoredOrder {
  return {
    record: {
      id: String(row.id) as OrderId,
      chain: row.chain as ChainSlug,
      trader: row.trader as Address,
      agent: row.agent as Address | null,
      request: JSON.parse(row.request) as OrderRequest,
      createdAtMs: Number(row.created_at),
      originKey: row.origin_key,
      spendUsd: Usd.of(BigInt(row.spend_usd)),
    },
    state: row.state === null ? undefined : (JSON.parse(row.state) as OrderState),
    spendDay: row.spend_day === null ? undefined : Number(row.spend_day),
  }
}

/**
 * Takes the next id of the deployment's one sequence, for an order, a position or a fill. An id is never given twice.
 */
export async function takeId(sql: Sql): Promise<OrderId> {
  const [id] = await takeIds(sql, 'orders', 1)
  return String(id) as OrderId
}
