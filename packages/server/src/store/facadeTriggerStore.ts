import { Price, type Address, type ChainSlug, type Hex, type OrderId } from '@bezel/protocol'
import { pointRead } from './pointReads.ts'
import type { Sql } from './sql.ts'

/** Kind of trigger: take profit or stop loss. */
export type TriggerKind = 'tp' | 'sl'

/** Key of the trigger of one trade. Each trade has at most one of each kind, whatever its price. */
export interface TriggerKey {
  readonly positionId: OrderId
  readonly kind: TriggerKind
}

/** Key of the trigger order of a whole position as the facade shows it: all trades of one trader, pair and side. */
export interface WholeKey {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly pairIndex: number
  readonly long: boolean
  readonly kind: TriggerKind
}

/** The trigger order that a client last placed or modified for a whole position, with the price that it asked for. */
export interface PlacedTrigger {
  readonly oid: OrderId
  readonly price: Price
}

/** A change of the trigger of a whole position that was sent, to this price; zero removes it. */
export interface ChangingTrigger extends PlacedTrigger {
  readonly hash: Hex
}

const OID_OF_TRADE = pointRead('select oid from facade_triggers where position_id = $1 and kind = $2', 'bigint', 'text')

/** Reads the order id of a trade's trigger; `undefined` until one is assigned. */
export async function readTriggerOid(sql: Sql, { positionId, kind }: TriggerKey): Promise<OrderId | undefined> {
  const row = await sql.get<{ oid: bigint }>(OID_OF_TRADE, BigInt(positionId), kind)
  return row === undefined ? undefined : (String(row.oid) as OrderId)
}

/** Makes the trigger of a trade a part of an order. The order that it belonged to has it as a former part. */
export async function saveTriggerOid(sql: Sql, key: TriggerKey, oid: OrderId): Promise<void> {
  const before = await readTriggerOid(sql, key)
  if (before === oid) return
  const [positionId, kind] = [BigInt(key.positionId), key.kind]
  if (before !== undefined) {
    await sql.run(
      `insert into facade_former_triggers (oid, position_id, kind) values ($1, $2, $3)
       on conflict (oid, position_id) do nothing`,
      BigInt(before),
      positionId,
      kind,
    )
  }
  // A trade that returns to an order is no former part of it any more.
  await sql.run('delete from facade_former_triggers where oid = $1 and position_id = $2', BigInt(oid), positionId)
  await sql.run(
    `insert into facade_triggers (position_id, kind, oid) values ($1, $2, $3)
     on conflict (position_id, kind) do update set oid = $3`,
    positionId,
    kind,
    BigInt(oid),
  )
}

const OF_WHOLE = 'where chain = $1 and trader = $2 and pair_index = $3 and is_long = $4 and kind = $5'
const WHOLE_TYPES = ['text', 'text', 'bigint', 'bigint', 'text'] as const
const PLACED = pointRead(`select oid, price from facade_placed_triggers ${OF_WHOLE}`, ...WHOLE_TYPES)
const CHANGE = pointRead(`select oid, price, tx_hash from facade_trigger_changes ${OF_WHOLE}`, ...WHOLE_TYPES)

interface PlacedRow {
  readonly oid: bigint
  readonly price: string
}

export async function readPlacedTrigger(sql: Sql, key: WholeKey): Promise<PlacedTrigger | undefined> {
  const row = await sql.get<PlacedRow>(PLACED, ...paramsOf(key))
  return row && toPlaced(row)
}

function toPlaced({ oid, price }: PlacedRow): PlacedTrigger {
  return { oid: String(oid) as OrderId, price: Price.of(BigInt(price)) }
}

/** Reads the last change of the trigger of a whole position that was sent. It may be on the chain by now. */
export async function readTriggerChange(sql: Sql, key: WholeKey): Promise<ChangingTrigger | undefined> {
  const row = await sql.get<PlacedRow & { readonly tx_hash: string }>(CHANGE, ...paramsOf(key))
  return row && { ...toPlaced(row), hash: row.tx_hash as Hex }
}

/** Stores the change of the trigger of a whole position; replaces the one sent before. */
export async function saveTriggerChange(sql: Sql, key: WholeKey, { oid, price, hash }: ChangingTrigger): Promise<void> {
  await sql.run(
    `insert into facade_trigger_changes (chain, trader, pair_index, is_long, kind, oid, price, tx_hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (chain, trader, pair_index, is_long, kind) do update set oid = $6, price = $7, tx_hash = $8`,
    ...paramsOf(key),
    BigInt(oid),
    String(price),
    hash,
  )
}

/** Stores the trigger order of a whole position; replaces the one placed before. */
export async function savePlacedTrigger(sql: Sql, key: WholeKey, { oid, price }: PlacedTrigger): Promise<void> {
  await sql.run(
    `insert into facade_placed_triggers (chain, trader, pair_index, is_long, kind, oid, price)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (chain, trader, pair_index, is_long, kind) do update set oid = $6, price = $7`,
    ...paramsOf(key),
    BigInt(oid),
    String(price),
  )
}

function paramsOf({ chain, trader, pairIndex, long, kind }: WholeKey) {
  return [chain, trader, pairIndex, long ? 1 : 0, kind] as const
}

/** A trigger order found by its id: the trades whose trigger is part of it, and those whose trigger was. */
export interface FoundTrigger {
  readonly kind: TriggerKind
  readonly parts: readonly OrderId[]
  readonly formerParts: readonly OrderId[]
}

/** Finds a trigger order. One without parts has been replaced by another order. */
export async function findTrigger(sql: Sql, oid: OrderId): Promise<FoundTrigger | undefined> {
  const rows = await sql.all<{ position_id: bigint; kind: string; is_former: bigint }>(
    `select position_id, kind, 0 as is_former from facade_triggers where oid = $1
     union all select position_id, kind, 1 as is_former from facade_former_triggers where oid = $1
     order by position_id`,
    BigInt(oid),
  )
  const [first] = rows
  if (first === undefined) return undefined
  const partsOf = (isFormer: number): OrderId[] =>
    rows.filter((row) => Number(row.is_former) === isFormer).map((row) => String(row.position_id) as OrderId)
  return { kind: first.kind as TriggerKind, parts: partsOf(0), formerParts: partsOf(1) }
}

/** Lists those of the given trigger orders that are, or were, orders of more than one trade. */
export async function listSharedTriggers(sql: Sql, oids: readonly OrderId[]): Promise<ReadonlySet<OrderId>> {
  if (oids.length === 0) return new Set()
  const places = oids.map((_, at) => `$${at + 1}`).join(', ')
  const rows = await sql.all<{ oid: bigint }>(
    `select oid from (
       select oid from facade_triggers where oid in (${places})
       union all select oid from facade_former_triggers where oid in (${places})
     ) as parts group by oid having count(*) > 1`,
    ...oids.map(BigInt),
  )
  return new Set(rows.map(({ oid }) => String(oid) as OrderId))
}

/** Lists the triggers of closed trades that are part of the given orders. */
export async function listClosedParts(
  sql: Sql,
  oids: readonly OrderId[],
): Promise<readonly (TriggerKey & { readonly oid: OrderId })[]> {
  if (oids.length === 0) return []
  const places = oids.map((_, at) => `$${at + 1}`).join(', ')
  const rows = await sql.all<{ oid: bigint; position_id: bigint; kind: string }>(
    `select oid, position_id, kind from facade_triggers join positions on positions.id = position_id
     where oid in (${places}) and is_open = 0 order by position_id`,
    ...oids.map(BigInt),
  )
  return rows.map(({ oid, position_id, kind }) => ({
    oid: String(oid) as OrderId,
    positionId: String(position_id) as OrderId,
    kind: kind as TriggerKind,
  }))
}

/** An order of the facade that opens, and the kinds of triggers that its trade takes over from the position. */
export interface InheritingOrder {
  readonly orderId: OrderId
  readonly kinds: readonly TriggerKind[]
}

/** Stores that the trade of an order is to have the triggers of the position it is added to. */
export async function insertInheriting(sql: Sql, chain: ChainSlug, { orderId, kinds }: InheritingOrder): Promise<void> {
  await sql.run(
    `insert into facade_inheriting_orders (order_id, chain, kinds) values ($1, $2, $3)
     on conflict (order_id) do update set kinds = $3`,
    BigInt(orderId),
    chain,
    kinds.join(' '),
  )
}

export async function readInheriting(sql: Sql, orderId: OrderId): Promise<InheritingOrder | undefined> {
  const row = await sql.get<{ kinds: string }>(
    'select kinds from facade_inheriting_orders where order_id = $1',
    BigInt(orderId),
  )
  return row && { orderId, kinds: kindsOf(row.kinds) }
}

export async function deleteInheriting(sql: Sql, orderId: OrderId): Promise<void> {
  await sql.run('delete from facade_inheriting_orders where order_id = $1', BigInt(orderId))
}

/** An inheriting order that has ended. A reorganisation may undo that. */
export interface EndedInheriting extends InheritingOrder {
  readonly createdAtMs: number
  /** The block of its last event; `null` when the chain never had it. */
  readonly endedAt: { readonly blockNumber: number; readonly blockHash: Hex } | null
}

/** Lists the inheriting orders that have ended, oldest first, with ids above `after`. */
export async function listEndedInheriting(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly after: OrderId | null; readonly limit: number },
): Promise<EndedInheriting[]> {
  const rows = await sql.all<{
    order_id: bigint
    kinds: string
    created_at: bigint
    block_number: bigint | null
    block_hash: string | null
  }>(
    `select inheriting.order_id, kinds, created_at, block_number, block_hash
     from facade_inheriting_orders as inheriting join orders on orders.id = inheriting.order_id
     left join order_events as event on event.order_id = inheriting.order_id and not exists (
       select 1 from order_events as later where later.order_id = event.order_id and (later.block_number >
       event.block_number or (later.block_number = event.block_number and later.log_index > event.log_index)))
     where inheriting.chain = $1 and inheriting.order_id > $2
     and status not in ('prepared', 'pending', 'open', 'timed_out') order by inheriting.order_id limit $3`,
    chain,
    BigInt(of.after ?? 0),
    of.limit,
  )
  return rows.map((row) => ({
    orderId: String(row.order_id) as OrderId,
    kinds: kindsOf(row.kinds),
    createdAtMs: Number(row.created_at),
    endedAt:
      row.block_number === null ? null : { blockNumber: Number(row.block_number), blockHash: row.block_hash as Hex },
  }))
}

function kindsOf(text: string): TriggerKind[] {
  return text.split(' ') as TriggerKind[]
}
