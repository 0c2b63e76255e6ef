import { createHash } from 'node:crypto'
import type { Address, ChainSlug, Decimal, Hex, OrderId } from '@bezel/protocol'
import type { Attempt, AttemptId, AttemptKind } from '../trading/orders/orderModel.ts'
import { pointRead } from './pointReads.ts'
import { insertInto, RANK } from './rows.ts'
import type { PointRead, Sql, SqlValue } from './sql.ts'

/** An attempt as one of its orders has it: `kind`, `size`, `isMismatch` and `withdrawnAtMs` are that order's own. */
export interface StoredAttempt {
  readonly chain: ChainSlug
  readonly orderId: OrderId
  readonly attempt: Attempt
  /** Place of the order among those that the transaction carries: 0 for the first, and mostly only, one. */
  readonly place: number
}

interface AttemptRow {
  readonly id: string
  readonly place: bigint
  readonly order_id: bigint
  readonly chain: string
  readonly kind: string
  readonly sender: string
  readonly calldata: string
  readonly gas: string | null
  readonly created_at: bigint
  readonly expires_at: bigint
  readonly size: string | null
  readonly submitted_hash: string | null
  readonly submitted_at: bigint | null
  readonly trusted_until: bigint | null
  readonly is_mismatch: bigint
  readonly withdrawn_at: bigint | null
}

const COLUMNS =
  'id, order_id, chain, kind, sender, calldata, gas, created_at, expires_at, size, submitted_hash, submitted_at, trusted_until, is_mismatch, withdrawn_at'

const SELECT = `select ${COLUMNS}, place from order_attempts as attempts`
const ORDER_OF = 'from orders where orders.id = attempts.order_id'
/** Maximum number of attempts with the same call; more than one agent has waiting at a time. */
const MAX_LOOKALIKES = 50
const OF_ORDER = pointRead(`${SELECT} where order_id = $1 order by created_at, id`, 'bigint')
const BY_ID = pointRead(`${SELECT} where id = $1 order by place`, 'text')
const BY_HASH = `${SELECT} where chain = $1 and submitted_hash = $2 and is_mismatch = 0`
const BY_HASH_AND_TRADER = pointRead(
  `${BY_HASH} and exists (select 1 ${ORDER_OF} and orders.trader = $3) order by created_at, id, place`,
  'text',
  'text',
  'text',
)
const BY_CALL = pointRead(
  `${SELECT} where chain = $1 and sender = $2 and call_digest = $3 and kind = 'open'
   and exists (select 1 ${ORDER_OF} and trader = $4 and status in ('prepared', 'pending', 'expired'))
   order by (select status = 'expired' ${ORDER_OF}), order_id, created_at limit ${MAX_LOOKALIKES}`,
  'text',
  'text',
  'text',
  'text',
)

const INSERT_ATTEMPT = insertInto('attempts', [...COLUMNS.split(', '), 'call_digest'], RANK.children)

/** Inserts an attempt with its order, or a further order of an attempt that was inserted before. */
export async function insertAttempt(
  sql: Sql,
  { chain, orderId, attempt, place = 0 }: Omit<StoredAttempt, 'place'> & Partial<Pick<StoredAttempt, 'place'>>,
): Promise<void> {
  if (place > 0) {
    sql.write(
      'insert into attempt_orders (attempt_id, place, order_id, kind, is_mismatch) values ($1, $2, $3, $4, 0)',
      attempt.id,
      place,
      BigInt(orderId),
      attempt.kind,
    )
    return
  }
  sql.write(
    INSERT_ATTEMPT,
    attempt.id,
    BigInt(orderId),
    chain,
    attempt.kind,
    attempt.sender,
    attempt.calldata,
    attempt.gas,
    attempt.createdAtMs,
    attempt.expiresAtMs,
    attempt.size,
    attempt.submittedHash,
    attempt.submittedAtMs,
    attempt.trustedUntilMs,
    attempt.isMismatch ? 1n : 0n,
    attempt.withdrawnAtMs,
    digestOf(attempt.calldata.slice(0, -ID_DIGITS)),
  )
}

/** Number of hex digits of the attempt id at the end of the calldata. */
const ID_DIGITS = 16

/** Returns the last 8 bytes of the calldata, where a prepared transaction carries its attempt id. */
export function attemptIdIn(calldata: Hex): AttemptId {
  return `0x${calldata.slice(2).slice(-ID_DIGITS)}` as AttemptId
}

/** Returns a digest of a call for the index, because calls can be too long to be indexed. */
function digestOf(call: string): string {
  return createHash('sha256').update(call).digest('base64url')
}

/** Lists the attempts of an order, oldest first. */
export async function listAttempts(sql: Sql, orderId: OrderId): Promise<Attempt[]> {
  const stored = await select(sql, OF_ORDER, BigInt(orderId))
  return stored.map(({ attempt }) => attempt)
}

/** Finds an attempt with its first order. */
export async function findAttempt(sql: Sql, id: AttemptId): Promise<StoredAttempt | undefined> {
  return (await listAttemptOrders(sql, id))[0]
}

/** Lists an attempt as each of its orders has it, in the order in which its transaction carries them. */
export async function listAttemptOrders(sql: Sql, id: AttemptId): Promise<StoredAttempt[]> {
  return select(sql, BY_ID, id)
}

/**
 * Lists the attempts for which a hash was reported and that are not marked as a mismatch, oldest first; only those of
 * `trader` when given. Anybody can report any hash for an order of their own, so another trader's report must not
 * interfere.
 */
export async function listAttemptsByHash(
  sql: Sql,
  chain: ChainSlug,
  hash: Hex,
  trader: Address | null,
): Promise<StoredAttempt[]> {
  return trader === null
    ? select(sql, `${BY_HASH} order by created_at, id, place`, chain, hash)
    : select(sql, BY_HASH_AND_TRADER, chain, hash, trader)
}

/**
 * Lists attempts to open an order with this call, whatever attempt id follows it, whose order may not be on the chain
 * yet: prepared and pending orders before expired ones, then oldest first.
 */
export async function listAttemptsByCall(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly sender: Address; readonly trader: Address; readonly call: Hex },
): Promise<StoredAttempt[]> {
  return select(sql, BY_CALL, chain, of.sender, digestOf(of.call), of.trader)
}

/**
 * Maximum number of hashes asked about per order, the latest ones. An order that is prepared repeatedly can have any
 * number.
 */
const AWAITED_PER_ORDER = 2

/**
 * Lists attempts with a reported hash that wait for their receipt. Receipts are needed because a reverted transaction
 * leaves no log. Takes the `orders` orders that follow `after` by id, and the last two reports of each; the caller
 * cycles through all orders, so that many dead hashes do not keep another order waiting.
 */
export async function listAwaitedAttempts(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly nowMs: number; readonly after: OrderId; readonly orders: number },
): Promise<StoredAttempt[]> {
  const awaiting = await sql.all<{ id: bigint }>(
    `select id from orders where chain = $1 and awaits_until is not null and awaits_until >= $2 and id > $3
     order by id limit $4`,
    chain,
    of.nowMs,
    BigInt(of.after),
    of.orders,
  )
  const last = `${SELECT} where order_id = $1 and submitted_hash is not null and is_mismatch = 0
    order by submitted_at desc, id limit $2`
  const reported: StoredAttempt[] = []
  for (const { id } of awaiting) reported.push(...(await select(sql, last, id, AWAITED_PER_ORDER)).toReversed())
  return reported
}

/**
 * Returns true when a transaction that was prepared and not reported was valid after `sinceMs`: it may be mined at any
 * moment, and when it fails it leaves no log. One whose order has ended, or that makes an order which the chain has by
 * now, is waited for no more.
 */
export async function hasUnreportedAttempt(sql: Sql, chain: ChainSlug, sinceMs: number): Promise<boolean> {
  const found = await sql.get(
    `select 1 from attempts where chain = $1 and submitted_hash is null and expires_at > $2
     and exists (select 1 ${ORDER_OF}
       and case when attempts.kind = 'open' then orders.status in ('prepared', 'expired')
           else orders.status not in ('filled', 'rejected', 'canceled') end)
     limit 1`,
    chain,
    sinceMs,
  )
  return found !== undefined
}

/** The report of a transaction hash; the fields are those of an `Attempt`. */
interface HashReport {
  readonly hash: Hex
  readonly submittedAtMs: number
  readonly trustedUntilMs: number | null
}

/** Stores the hash reported for an attempt and all its orders, in place of any earlier one. */
export async function setSubmitted(sql: Sql, id: AttemptId, report: HashReport): Promise<void> {
  sql.write('update attempt_orders set is_mismatch = 0 where attempt_id = $1', id)
  sql.write(
    'update attempts set submitted_hash = $2, submitted_at = $3, trusted_until = $4, is_mismatch = 0 where id = $1',
    id,
    report.hash,
    report.submittedAtMs,
    report.trustedUntilMs,
  )
}

/**
 * Stores the hash of another version of a relayed transaction; the time of the first report stays. Returns the orders
 * to be folded again.
 */
export async function setRelayedHash(sql: Sql, id: AttemptId, hash: Hex, atMs: number): Promise<OrderId[]> {
  sql.write('update attempt_orders set is_mismatch = 0 where attempt_id = $1', id)
  sql.write(
    `update attempts set submitted_hash = $2, submitted_at = coalesce(submitted_at, $3), trusted_until = null,
       is_mismatch = 0 where id = $1`,
    id,
    hash,
    atMs,
  )
  return (await listAttemptOrders(sql, id)).map(({ orderId }) => orderId)
}

/**
 * Notes that a node knows a reported transaction. Returns the orders to be folded again. Counts only for attempts of
 * the transaction's sender, because anybody can report any hash.
 */
export async function setSeen(
  sql: Sql,
  chain: ChainSlug,
  { hash, from }: { readonly hash: Hex; readonly from: Address },
  atMs: number,
): Promise<OrderId[]> {
  const rows = await sql.all<{ id: string }>(
    `update attempts set trusted_until = null,
       submitted_at = case when trusted_until <= $4 then $4 else submitted_at end
     where chain = $1 and submitted_hash = $2 and sender = $3 and trusted_until is not null
     returning id`,
    chain,
    hash,
    from,
    atMs,
  )
  const seen: StoredAttempt[] = []
  for (const { id } of rows) seen.push(...(await listAttemptOrders(sql, id as AttemptId)))
  return seen.map(({ orderId }) => orderId)
}

/** Sets the time after which the attempt is not sent any more and its order stops waiting for it. */
export async function setExpiry(sql: Sql, id: AttemptId, atMs: number): Promise<void> {
  sql.write('update attempts set expires_at = $2 where id = $1', id, atMs)
}

/** Notes that the reported hash of an attempt was mined and is not this order. Its other orders are as they were. */
export async function setMismatch(sql: Sql, id: AttemptId, orderId: OrderId): Promise<void> {
  await setOfOrder(sql, { id, orderId }, 'is_mismatch', 1)
}

/** Withdraws an order from its attempt. Its other orders are as they were. */
export async function setWithdrawn(sql: Sql, id: AttemptId, orderId: OrderId, atMs: number): Promise<void> {
  await setOfOrder(sql, { id, orderId }, 'withdrawn_at', atMs)
}

async function setOfOrder(
  sql: Sql,
  { id, orderId }: { readonly id: AttemptId; readonly orderId: OrderId },
  column: 'is_mismatch' | 'withdrawn_at',
  value: number,
): Promise<void> {
  for (const [table, key] of [
    ['attempts', 'id'],
    ['attempt_orders', 'attempt_id'],
  ]) {
    sql.write(`update ${table} set ${column} = $3 where ${key} = $1 and order_id = $2`, id, BigInt(orderId), value)
  }
}

async function select(sql: Sql, read: string | PointRead, ...params: readonly SqlValue[]): Promise<StoredAttempt[]> {
  return (await sql.all<AttemptRow>(read, ...params)).map(toStored)
}

function toStored(row: AttemptRow): StoredAttempt {
  return {
    chain: row.chain as ChainSlug,
    orderId: String(row.order_id) as OrderId,
    place: Number(row.place),
    attempt: {
      id: row.id as AttemptId,
      kind: row.kind as AttemptKind,
      sender: row.sender as Address,
      calldata: row.calldata as Hex,
      gas: row.gas,
      createdAtMs: Number(row.created_at),
      expiresAtMs: Number(row.expires_at),
      size: row.size as Decimal | null,
      submittedHash: row.submitted_hash as Hex | null,
      submittedAtMs: row.submitted_at === null ? null : Number(row.submitted_at),
      trustedUntilMs: row.trusted_until === null ? null : Number(row.trusted_until),
      isMismatch: row.is_mismatch === 1n,
      withdrawnAtMs: row.withdrawn_at === null ? null : Number(row.withdrawn_at),
    },
  }
}
