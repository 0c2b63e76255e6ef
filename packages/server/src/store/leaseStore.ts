import type { ChainSlug } from '@bezel/protocol'
import type { LeaderRole } from '../settings/roles.ts'
import { databaseNow } from './databaseClock.ts'
import type { Sql } from './sql.ts'

/** Time without a renewal after which another node may take a lease, by the clock of the database. */
export const LEASE_MS = 3_000

/** A role that one node at a time leads, on a chain; the chain is empty for what belongs to none. */
export interface LeaseName {
  readonly role: LeaderRole
  readonly chain: ChainSlug | ''
}

/** A lease of a node. The token grows by one with each holder, so a former one is known by its token. */
export interface LeaseTerm extends LeaseName {
  /** Name of the process, which no other one ever has. */
  readonly holder: string
  readonly token: bigint
}

/** Returns true when nobody else holds the lease now. Reads without a lock, so that it can be asked at any time. */
export async function isLeaseFree(sql: Sql, { role, chain }: LeaseName, holder: string): Promise<boolean> {
  const taken = await sql.get(
    `select 1 as taken from leases where role = $1 and chain = $2 and holder <> $3 and ${isFresh(sql)}`,
    role,
    chain,
    holder,
  )
  return taken === undefined
}

/**
 * Takes a lease that nobody else holds. Returns its token; `undefined` when another node was faster. Waits for the
 * transactions of the last holder that are under way.
 */
export async function acquireLease(sql: Sql, { role, chain }: LeaseName, holder: string): Promise<bigint | undefined> {
  const row = await sql.get<{ token: bigint }>(
    `insert into leases (role, chain, holder, token, renewed_at, told) values ($1, $2, $3, 1, ${databaseNow(sql)}, '')
     on conflict (role, chain) do update
     set holder = excluded.holder, token = leases.token + 1, renewed_at = ${databaseNow(sql)}
     where leases.holder = excluded.holder or not (${isFresh(sql)})
     returning token`,
    role,
    chain,
    holder,
  )
  return row?.token
}

/** Renews a lease, with what its holder tells all other nodes. Returns false when it is another's. */
export async function renewLease(sql: Sql, { role, chain, holder, token }: LeaseTerm, told = ''): Promise<boolean> {
  const changed = await sql.run(
    `update leases set renewed_at = ${databaseNow(sql)}, told = $5
     where role = $1 and chain = $2 and holder = $3 and token = $4`,
    role,
    chain,
    holder,
    token,
    told,
  )
  return changed === 1
}

/** Reads what the last holder of a lease told; empty while there is nothing. */
export async function readTold(sql: Sql, { role, chain }: LeaseName): Promise<string> {
  const row = await sql.get<{ told: string }>('select told from leases where role = $1 and chain = $2', role, chain)
  return row?.told ?? ''
}

/** Gives a lease away, unless it is another's, so that the next holder need not wait. */
export async function releaseLease(sql: Sql, { role, chain, holder, token }: LeaseTerm): Promise<void> {
  await sql.run(
    `update leases set holder = '', renewed_at = 0 where role = $1 and chain = $2 and holder = $3 and token = $4`,
    role,
    chain,
    holder,
    token,
  )
}

/**
 * Returns true when the lease is this term's, and keeps it from being taken until the end of the transaction. A renewal
 * passes. A select, so that it goes with the beginning of the transaction. PostgreSQL ends the transaction when nothing
 * comes for as long as a lease lasts, because then its process may be stopped, and the next leader waits for it.
 */
export async function holdLease(sql: Sql, { role, chain, holder, token }: LeaseTerm): Promise<boolean> {
  const isShared = sql.engine === 'postgres'
  const held = await sql.get(
    `select ${isShared ? END_IF_IDLE : '1'} as held from leases
     where role = $1 and chain = $2 and holder = $3 and token = $4${isShared ? ' for key share' : ''}`,
    role,
    chain,
    holder,
    token,
  )
  return held !== undefined
}

const END_IF_IDLE = `set_config('idle_in_transaction_session_timeout', '${LEASE_MS}', true)`

/** Returns the SQL condition for a lease that was renewed lately. A time far ahead is of a clock that was wrong. */
function isFresh(sql: Pick<Sql, 'engine'>): string {
  return `leases.renewed_at between ${databaseNow(sql)} - ${LEASE_MS} and ${databaseNow(sql)} + ${LEASE_MS}`
}
