import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import { listAttemptOrders, type StoredAttempt } from './attemptStore.ts'
import type { Sql } from './sql.ts'

// Transactions that were prepared, expired, and were neither reported as sent nor seen on the chain. Requests alone
// make them, at no cost, so they are the only part of the history that grows without the chain.

/** An expired transaction that may be forgotten, and whose it is. */
export interface UnsentTransaction extends UnsentPlace {
  readonly id: AttemptId
  readonly trader: Address
}

/** A change of a position that was prepared and has expired. */
export interface UnsentChange extends UnsentTransaction {
  readonly chain: ChainSlug
  readonly positionId: OrderId
}

/** Place in the order of expiry. Of those that expire together, a text tells which comes first. */
interface UnsentPlace {
  readonly expiresAtMs: number
  readonly place: string
}

/** A page of what expired before `beforeMs`, after a place: the oldest first. */
export interface UnsentPage {
  readonly beforeMs: number
  readonly after: UnsentPlace
  readonly limit: number
}

interface UnsentRow {
  readonly id: string
  readonly place: string
  readonly trader: string
  readonly expires_at: bigint
}

/** Lists transactions prepared for orders of a chain that nobody reported. Some of them may be on the chain. */
export async function listUnsentAttempts(
  sql: Sql,
  chain: ChainSlug,
  { beforeMs, after, limit }: UnsentPage,
): Promise<UnsentTransaction[]> {
  const rows = await sql.all<UnsentRow>(
    `select attempts.id, attempts.id as place, orders.trader, attempts.expires_at
     from attempts join orders on orders.id = attempts.order_id
     where attempts.chain = $1 and attempts.submitted_hash is null and attempts.expires_at < $2
       and attempts.expires_at >= $3 and (attempts.expires_at > $3 or attempts.id > $4)
     order by attempts.expires_at, attempts.id limit $5`,
    chain,
    beforeMs,
    after.expiresAtMs,
    after.place,
    limit,
  )
  return rows.map(toUnsent)
}

/** One transaction may change several positions. */
const CHANGE_PLACE = `asked.id || ' ' || cast(asked.position_id as text)`

/** Lists changes prepared for positions of all chains. Some of them may be on the chain. */
export async function listUnsentChanges(sql: Sql, { beforeMs, after, limit }: UnsentPage): Promise<UnsentChange[]> {
  const rows = await sql.all<UnsentRow & { readonly chain: string; readonly position_id: bigint }>(
    `select asked.id, ${CHANGE_PLACE} as place, asked.position_id, asked.expires_at, positions.chain, positions.trader
     from position_attempts as asked join positions on positions.id = asked.position_id
     where asked.expires_at < $1 and asked.expires_at >= $2 and (asked.expires_at > $2 or ${CHANGE_PLACE} > $3)
     order by asked.expires_at, ${CHANGE_PLACE} limit $4`,
    beforeMs,
    after.expiresAtMs,
    after.place,
    limit,
  )
  return rows.map((row) => ({
    ...toUnsent(row),
    chain: row.chain as ChainSlug,
    positionId: String(row.position_id) as OrderId,
  }))
}

function toUnsent({ id, place, trader, expires_at }: UnsentRow): UnsentTransaction {
  return { id: id as AttemptId, place, trader: trader as Address, expiresAtMs: Number(expires_at) }
}

/**
 * Forgets a transaction that was prepared for orders, alone with their trader, unless somebody needs it: it was
 * reported, the chain has it, it still counts, or an order that it would open has a name for ever or is more than
 * expired. The orders that it would have opened go with it. Returns how many these are; `undefined` when it is kept.
 */
export async function forgetUnsentAttempt(sql: Sql, id: AttemptId): Promise<number | undefined> {
  const parts = await listAttemptOrders(sql, id)
  const judged = await Promise.all(parts.map((part) => isForgettable(sql, part)))
  if (judged.includes(false)) return undefined
  const opened = parts.filter(({ attempt }) => attempt.kind === 'open')
  sql.write('delete from change_charges where attempt_id = $1', id)
  sql.write('delete from attempt_orders where attempt_id = $1', id)
  sql.write('delete from attempts where id = $1', id)
  for (const { orderId } of opened) sql.write('delete from orders where id = $1', BigInt(orderId))
  return opened.length
}

async function isForgettable(sql: Sql, { attempt, chain, orderId }: StoredAttempt): Promise<boolean> {
  if (attempt.submittedHash !== null) return false
  const isFree =
    attempt.kind === 'open' ? await isOnlyExpired(sql, orderId) : !(await isInUse(sql, orderId, attempt.id))
  if (!isFree) return false
  const relayed = `select 1 from relay_entries where chain = $1 and attempt_id = $2 and state <> 'lost' limit 1`
  return (await sql.get(relayed, chain, attempt.id)) === undefined
}

/**
 * Returns true when an order has expired, was given no name of its own by its client, and is all that is left of one
 * transaction.
 */
async function isOnlyExpired(sql: Sql, orderId: OrderId): Promise<boolean> {
  const found = await sql.get(
    `select 1 from orders where id = $1 and status = 'expired' and client_id is null and origin_key is null
       and spend_day is null
       and not exists (select 1 from order_events where order_events.order_id = orders.id)
       and not exists (select 1 from positions where positions.origin_order_id = orders.id)
       and not exists (select 1 from relay_exits where relay_exits.chain = orders.chain
         and relay_exits.order_id = orders.id)
       and not exists (select 1 from facade_inheriting_orders where facade_inheriting_orders.order_id = orders.id)
       and (select count(*) from order_attempts where order_attempts.order_id = orders.id) = 1`,
    BigInt(orderId),
  )
  return found !== undefined
}

/** Returns true when an event of the order is by this attempt, or the fold has not given back yet what it counts. */
async function isInUse(sql: Sql, orderId: OrderId, id: AttemptId): Promise<boolean> {
  const text = `select 1 from order_events where order_id = $1 and body like '%' || $2 || '%'
    union all select 1 from change_charges where attempt_id = $2 and day is not null limit 1`
  return (await sql.get(text, BigInt(orderId), id)) !== undefined
}

/** Forgets a change that was prepared for a position, alone with its trader, unless the chain has it. */
export async function forgetUnsentChange(sql: Sql, { id, positionId }: UnsentChange): Promise<void> {
  sql.write(
    `delete from position_attempts where id = $1 and position_id = $2
       and not exists (select 1 from positions where positions.id = $2 and positions.update_attempt = $1)
       and not exists (select 1 from position_events
         where position_events.position_id = $2 and position_events.body like '%' || $1 || '%')`,
    id,
    BigInt(positionId),
  )
}
