import type { Address, ChainSlug, OrderId } from '@bezel/protocol'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import { pointRead } from './pointReads.ts'
import type { Sql } from './sql.ts'

/** The purpose of a transaction prepared for a position. Changes of stop loss and take profit are not stored. */
export type PositionAttemptKind = 'leverage' | 'collateral' | 'reclaim'

/** A transaction prepared for a position, as far as it is needed to recognise the request that it makes. */
export interface PositionAttempt {
  readonly id: AttemptId
  readonly positionId: OrderId
  readonly kind: PositionAttemptKind
  readonly sender: Address
  /** Index of the pending order that it reclaims; `null` when it reclaims none. */
  readonly pendingIndex: number | null
  readonly expiresAtMs: number
}

interface PositionAttemptRow {
  readonly id: string
  readonly position_id: bigint
  readonly kind: string
  readonly sender: string
  readonly pending_index: bigint | null
  readonly expires_at: bigint
}

export async function insertPositionAttempt(sql: Sql, attempt: PositionAttempt): Promise<void> {
  sql.write(
    `insert into position_attempts (id, position_id, kind, sender, pending_index, expires_at)
     values ($1, $2, $3, $4, $5, $6)`,
    attempt.id,
    BigInt(attempt.positionId),
    attempt.kind,
    attempt.sender,
    attempt.pendingIndex,
    attempt.expiresAtMs,
  )
}

const FIND_ATTEMPT = pointRead(
  `select id, position_id, kind, sender, pending_index, expires_at from position_attempts
   where id = $1 and position_id = $2`,
  'text',
  'bigint',
)

export async function findPositionAttempt(
  sql: Sql,
  id: AttemptId,
  positionId: OrderId,
): Promise<PositionAttempt | undefined> {
  const row = await sql.get<PositionAttemptRow>(FIND_ATTEMPT, id, BigInt(positionId))
  if (row === undefined) return undefined
  return {
    id: row.id as AttemptId,
    positionId: String(row.position_id) as OrderId,
    kind: row.kind as PositionAttemptKind,
    sender: row.sender as Address,
    pendingIndex: row.pending_index === null ? null : Number(row.pending_index),
    expiresAtMs: Number(row.expires_at),
  }
}

/** True when an unexpired attempt reclaims this pending order of a position. */
export async function hasReclaim(
  sql: Sql,
  of: { readonly positionId: OrderId; readonly pendingIndex: number; readonly nowMs: number },
): Promise<boolean> {
  const row = await sql.get(
    'select 1 from position_attempts where position_id = $1 and pending_index = $2 and expires_at > $3 limit 1',
    BigInt(of.positionId),
    of.pendingIndex,
    of.nowMs,
  )
  return row !== undefined
}

/**
 * Lists the positions, open or closed, with a timed-out change that this sender requested and without an unexpired
 * reclaim, oldest first, with ids above `after`.
 */
export async function listTimedOutUpdates(
  sql: Sql,
  chain: ChainSlug,
  of: { readonly sender: Address; readonly nowMs: number; readonly after: OrderId | null; readonly limit: number },
): Promise<OrderId[]> {
  const rows = await sql.all<{ id: bigint }>(
    `select positions.id from positions join position_attempts as asked
       on asked.id = positions.update_attempt and asked.position_id = positions.id
     where positions.chain = $1 and positions.update_due_block is not null and positions.update_status = 'timed_out'
     and positions.id > $5 and asked.sender = $2
     and not exists (
       select 1 from position_attempts as reclaim
       where reclaim.position_id = positions.id and reclaim.pending_index = positions.update_index
       and reclaim.expires_at > $3
     ) order by positions.id limit $4`,
    chain,
    of.sender,
    of.nowMs,
    of.limit,
    BigInt(of.after ?? 0),
  )
  return rows.map(({ id }) => String(id) as OrderId)
}
