import type { Sql } from '../store/sql.ts'
import { NONCE_KEPT_MS, nonceKey, REPLAY_WINDOW_MS, type NonceClaim } from './nonceClaim.ts'

/** A claim as the table has it. */
export interface NonceRow {
  readonly chain: string
  readonly agent: string
  readonly nonce: string
  readonly timestampMs: number
}

/** More than a write adds, so the table shrinks to the window again after any burst, and few enough that no write feels it. */
const PRUNED_PER_CLAIM = 16

/** Claims of writes, all that are left: expired ones say up to when claims were forgotten. */
export async function readNonceTable(sql: Sql): Promise<NonceClaim[]> {
  const rows = await sql.all<{ chain: string; agent: string; nonce: string; timestamp: bigint }>(
    'select chain, agent, nonce, timestamp from nonces',
  )
  return rows.map(({ chain, agent, nonce, timestamp }) => ({
    key: nonceKey(chain, agent, nonce),
    timestampMs: Number(timestamp),
  }))
}

/** Whether the nonce was free (the rule is `isReusable`); then it is used up when the transaction commits. */
export async function insertNonce(sql: Sql, row: NonceRow, nowMs: number): Promise<boolean> {
  await pruneNonces(sql, nowMs)
  const changed = await sql.run(
    `insert into nonces (chain, agent, nonce, timestamp) values ($1, $2, $3, $4)
    on conflict (chain, agent, nonce) do update set timestamp = excluded.timestamp
    where nonces.timestamp < $5 and nonces.timestamp < excluded.timestamp`,
    row.chain,
    row.agent,
    row.nonce,
    row.timestampMs,
    nowMs - REPLAY_WINDOW_MS,
  )
  return changed === 1
}

async function pruneNonces(sql: Sql, nowMs: number): Promise<void> {
  await sql.run(
    `delete from nonces where timestamp < $1 and timestamp <= (
      select max(timestamp) from (select timestamp from nonces order by timestamp limit ${PRUNED_PER_CLAIM}) as oldest
    )`,
    nowMs - NONCE_KEPT_MS,
  )
}
