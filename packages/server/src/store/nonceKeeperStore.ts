import { randomBytes } from 'node:crypto'
import type { Sql } from './sql.ts'

// Statements of PostgreSQL only: SQLite is used by one process, which remembers nonces itself. Each is a transaction of
// its own, and one round trip.

/** A time that never comes. */
export const NEVER_MS = 9_000_000_000_000_000

/** Bytes of a deployment's name. */
const NAME_BYTES = 6

/**
 * Time at which the transaction of the statement began, which is before it sees anything. That of the statement itself
 * may be after: it is told again when a statement that has seen the rows already is executed.
 */
const ARRIVED_MS = 'cast(extract(epoch from transaction_timestamp()) * 1000 as bigint)'

/** Time at which a row is changed, which is after the statement has seen it. */
const NOW_MS = 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)'

/** The place of used nonces, as the row told it. */
export interface KeeperRow {
  /** The life of a Redis that keeps nonces; empty while the store keeps them. */
  readonly epoch: string
  /** Claims dated later may be made in Redis alone. */
  readonly redisAfterMs: number
  /** Claims dated up to this can't be told by the store: Redis may have accepted them alone. */
  readonly storeAfterMs: number
  /** The last time at which a node could not use Redis. */
  readonly doubtedAtMs: number
  /** The database's time, at or before the one at which the row was as told. */
  readonly databaseMs: number
}

interface RawRow {
  readonly epoch: string
  readonly redis_after: bigint
  readonly store_after: bigint
  readonly doubted_at: bigint
  readonly database_ms: bigint
}

const rowOf = (raw: RawRow): KeeperRow => ({
  epoch: raw.epoch,
  redisAfterMs: Number(raw.redis_after),
  storeAfterMs: Number(raw.store_after),
  doubtedAtMs: Number(raw.doubted_at),
  databaseMs: Number(raw.database_ms),
})

export async function readKeeper(sql: Pick<Sql, 'get'>): Promise<KeeperRow> {
  const raw = await sql.get<RawRow>(
    `select epoch, redis_after, store_after, doubted_at, ${ARRIVED_MS} as database_ms from nonce_keeper`,
  )
  return rowOf(raw!)
}

/** Returns the name of the deployment in a Redis that it may share. The first node gives it one. */
export async function readDeployment(sql: Sql): Promise<string> {
  const fresh = randomBytes(NAME_BYTES).toString('base64url')
  await sql.run(`update nonce_keeper set deployment = $1 where deployment = ''`, fresh)
  return (await sql.get<{ deployment: string }>('select deployment from nonce_keeper'))!.deployment
}

/** A nonce to use up. */
export interface NonceRow {
  readonly chain: string
  readonly agent: string
  readonly nonce: string
  readonly timestampMs: number
}

/** The rule by which a nonce is used up in the store. */
export interface ClaimRule {
  /** The epoch that must be current; empty when the store must be the only keeper. */
  readonly epoch: string
  /** Time by which a claim may be dated ahead of the database. */
  readonly aheadMs: number
  /** Time by which a claim may be dated before the database: no longer than Redis remembers its own. */
  readonly behindMs: number
  /** A nonce may be used again when its last use is dated before this. */
  readonly reusableBeforeMs: number
}

/** Uses up a nonce, unless it was used or the place of nonces is another one. Returns that place as well. */
export async function claimNonce(
  sql: Sql,
  { chain, agent, nonce, timestampMs }: NonceRow,
  { epoch, aheadMs, behindMs, reusableBeforeMs }: ClaimRule,
): Promise<{ readonly isClaimed: boolean; readonly keeper: KeeperRow }> {
  const raw = await sql.get<RawRow & { claimed: bigint }>(
    `with keeper as (
      select epoch, redis_after, store_after, doubted_at, ${ARRIVED_MS} as database_ms from nonce_keeper
    ), claimed as (
      insert into nonces (chain, agent, nonce, timestamp)
      select $1, $2, $3, cast($4 as bigint) from keeper
      where keeper.epoch = $5 and cast($4 as bigint) > keeper.store_after
        and cast($4 as bigint) <= keeper.database_ms + cast($6 as bigint)
        and cast($4 as bigint) >= keeper.database_ms - cast($8 as bigint)
        and cast($4 as bigint) > (select up_to from nonce_floor)
      on conflict (chain, agent, nonce) do update set timestamp = excluded.timestamp
      where nonces.timestamp < cast($7 as bigint) and nonces.timestamp < excluded.timestamp
      returning 1
    )
    select keeper.*, (select count(*) from claimed) as claimed from keeper`,
    chain,
    agent,
    nonce,
    timestampMs,
    epoch,
    aheadMs,
    reusableBeforeMs,
    behindMs,
  )
  return { isClaimed: raw!.claimed === 1n, keeper: rowOf(raw!) }
}

/** Notes that a node can't use Redis. */
export async function doubtRedis(sql: Sql): Promise<void> {
  await sql.run(`update nonce_keeper set doubted_at = ${NOW_MS}`)
}

/**
 * Makes the store the keeper, in two commits. Between them nothing is accepted; the time of the second is after
 * everybody who looks can see the first.
 */
export async function leaveRedis(sql: Sql, epoch: string, floorMs: number): Promise<void> {
  await sql.run(
    `update nonce_keeper set epoch = '', store_after = $2, doubted_at = ${NOW_MS} where epoch = $1`,
    epoch,
    NEVER_MS,
  )
  await finishLeaving(sql, floorMs)
}

/** Does the second step of `leaveRedis`, also for a node that died between the two. */
export async function finishLeaving(sql: Sql, floorMs: number): Promise<void> {
  await sql.run(
    `update nonce_keeper set store_after = ${NOW_MS} + cast($1 as bigint) where epoch = '' and store_after = $2`,
    floorMs,
    NEVER_MS,
  )
}

/** Makes Redis the keeper, beside the store at first, unless a node had doubts within `quietMs`. Also two commits. */
export async function adoptRedis(
  sql: Sql,
  epoch: string,
  of: { readonly quietMs: number; readonly besideMs: number },
): Promise<void> {
  await sql.run(
    `update nonce_keeper set epoch = $1, redis_after = $2
     where epoch = '' and store_after < ${NOW_MS} and doubted_at + cast($3 as bigint) < ${NOW_MS}`,
    epoch,
    NEVER_MS,
    of.quietMs,
  )
  await finishAdopting(sql, epoch, of.besideMs)
}

/** Does the second step of `adoptRedis`, also for a node that died between the two. */
export async function finishAdopting(sql: Sql, epoch: string, besideMs: number): Promise<void> {
  await sql.run(
    `update nonce_keeper set redis_after = ${NOW_MS} + cast($1 as bigint) where epoch = $2 and redis_after = $3`,
    besideMs,
    epoch,
    NEVER_MS,
  )
}
