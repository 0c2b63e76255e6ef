import { createHash } from 'node:crypto'
import type { Address, ChainSlug, Decimal, Hex, OrderId } from '@bezel/protocol'
import type { Attempt, AttemptId, AttemptKind } from '../trading/orders/orderModel.ts'
import type { Sql, SqlValue } from './sql.ts'

/** An attempt and the order it is for. */
export interface StoredAttempt {
  readonly chain: ChainSlug
  readonly orderId: OrderId
  readonly attempt: Attempt
}

interface AttemptRow {
  readonly id: string
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
  readonly is_mismatch: bigint
  readonly withdrawn_at: bigint | null
}

const COLUMNS =
  'id, order_id, chain, kind, sender, calldata, gas, created_at, expires_at, size, submitted_hash, submitted_at, is_mismatch, withdrawn_at'

export async function insertAttempt(sql: Sql, { chain, orderId, attempt }: StoredAttempt): Promise<void> {
  await sql.run(
    `insert into attempts (${COLUMNS}, call_digest)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
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
    attempt.isMismatch ? 1n : 0n,
    attempt.withdrawnAtMs,
    digestOf(attempt.calldata.slice(0, -ID_DIGITS)),
  )
}

/** Of the attempt's id, behind its call. */
const ID_DIGITS = 16

/** Calls can be longer than what an index takes. */
function digestOf(call: string): string {
  return createHash('sha256').update(call).digest('base64url')
}

/** Oldest first. */
export async function attemptsOf(sql: Sql, orderId: OrderId): Promise<Attempt[]> {
  const stored = await select(sql, 'order_id = $1 order by created_at, id', BigInt(orderId))
  return stored.map(({ attempt }) => attempt)
}

export async function findAttempt(sql: Sql, id: AttemptId): Promise<StoredAttempt | undefined> {
  return (await select(sql, 'id = $1', id))[0]
}

/**
 * Those that a hash was reported for and that were not found to be another, oldest first; of one trader when given. Anybody can report any
 * hash for an order of their own, so what another trader reports must not stand in the way.
 */
export async function listAttemptsByHash(
  sql: Sql,
  chain: ChainSlug,
  hash: Hex,
  trader: Address | null,
): Promise<StoredAttempt[]> {
  const where = 'chain = $1 and submitted_hash = $2 and is_mismatch = 0'
  const ofTrader = 'exists (select 1 from orders where orders.id = attempts.order_id and orders.trader = $3)'
  const params = [chain, hash, ...(trader === null ? [] : [trader])]
  return select(sql, `${where}${trader === null ? '' : ` and ${ofTrader}`} order by created_at, id`, ...params)
}

/** More orders than one agent waits for at a time. */
const MAX_LOOKALIKES = 50

/**
 * Attempts to bring an order to the chain with this call, whatever id stands behind it, of orders that the chain may not know yet: those that
 * somebody waits for before the expired ones, then oldest first.
 */
export async function listAttemptsByCall(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly sender: Address; readonly trader: Address; readonly call: Hex },
): Promise<StoredAttempt[]> {
  const order = 'from orders where orders.id = attempts.order_id'
  return select(
    sql,
    `chain = $1 and sender = $2 and call_digest = $3 and kind = 'open'
     and exists (select 1 ${order} and trader = $4 and status in ('prepared', 'pending', 'expired'))
     order by (select status = 'expired' ${order}), order_id, created_at limit $5`,
    chain,
    of.sender,
    digestOf(of.call),
    of.trader,
    MAX_LOOKALIKES,
  )
}

/** An order that is prepared again and again can have any number of them; the node is asked about the last ones only. */
const AWAITED_PER_ORDER = 2

/**
 * Reported hashes that wait for their receipt, which is asked for because a transaction that reverts leaves no log. Of `orders` orders, by id
 * from the one behind `after` on, the last two that were reported: who asks goes round, so that no crowd of dead hashes keeps another order
 * waiting.
 */
export async function listAwaitedAttempts(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly nowMs: number; readonly after: OrderId; readonly orders: number },
): Promise<StoredAttempt[]> {
  return select(
    sql,
    `id in (
       select reported.id from (
         select id from orders where chain = $1 and awaits_until is not null and awaits_until >= $2 and id > $3
         order by id limit $4
       ) as awaiting join attempts as reported on reported.id in (
         select last.id from attempts as last
         where last.order_id = awaiting.id and last.submitted_hash is not null and last.is_mismatch = 0
         order by last.submitted_at desc, last.id limit $5
       )
     ) order by order_id, submitted_at`,
    chain,
    of.nowMs,
    BigInt(of.after),
    of.orders,
    AWAITED_PER_ORDER,
  )
}

export async function setSubmitted(sql: Sql, id: AttemptId, hash: Hex, atMs: number): Promise<void> {
  await sql.run(
    'update attempts set submitted_hash = $2, submitted_at = $3, is_mismatch = 0 where id = $1',
    id,
    hash,
    atMs,
  )
}

/** Nobody sends it after this: its order waits no longer than that. */
export async function setExpiry(sql: Sql, id: AttemptId, atMs: number): Promise<void> {
  await sql.run('update attempts set expires_at = $2 where id = $1', id, atMs)
}

export async function setMismatch(sql: Sql, id: AttemptId): Promise<void> {
  await sql.run('update attempts set is_mismatch = 1 where id = $1', id)
}

export async function setWithdrawn(sql: Sql, id: AttemptId, atMs: number): Promise<void> {
  await sql.run('update attempts set withdrawn_at = $2 where id = $1', id, atMs)
}

async function select(sql: Sql, where: string, ...params: readonly SqlValue[]): Promise<StoredAttempt[]> {
  return (await sql.all<AttemptRow>(`select ${COLUMNS} from attempts where ${where}`, ...params)).map(toStored)
}

function toStored(row: AttemptRow): StoredAttempt {
  return {
    chain: row.chain as ChainSlug,
    orderId: String(row.order_id) as OrderId,
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
      isMismatch: row.is_mismatch === 1n,
      withdrawnAtMs: row.withdrawn_at === null ? null : Number(row.withdrawn_at),
    },
  }
}
