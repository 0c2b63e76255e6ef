import type { Address, ChainSlug } from '@bezel/protocol'
import type { AuditOrigin } from './auditStore.ts'
import { holding, holdingFree, type Sql } from './sql.ts'

/** A registration that the chain does not prove: an agent (without trader and label), or an API key (without agent). */
export interface ClaimKey {
  readonly chain: ChainSlug
  readonly agent: Address | ''
  readonly trader: Address | ''
  readonly label: string
}

/** Where and when a claim was made. */
export interface ClaimSource {
  readonly network: string
  readonly sinceMs: number
  /** The request, if the audit log does not tell of it yet. */
  readonly untold: AuditOrigin | undefined
}

/** The request that made a claim; all is null once the audit log tells of it. */
interface RequestRow {
  readonly asked_at: bigint | null
  readonly caller_ip: string | null
  readonly request_id: string | null
}

/** Time after which a claim that is not used is forgotten. */
export const CLAIM_KEPT_MS = 7 * 86_400_000

/** Pause between two renewals of one claim, because each is a write to disk. */
export const RENEWED_MS = 3_600_000

/** The row that counts the claims of all networks. Changed before that of a network, so that no two are crossed. */
const ALL_NETWORKS = ''

/** Adds a claim of a network, which must not be there yet. */
export async function addClaim(sql: Sql, claim: ClaimKey, { network, sinceMs, untold }: ClaimSource): Promise<void> {
  await sql.run(
    `insert into claims (subject, network, since, asked_at, caller_ip, request_id) values ($1, $2, $3, $4, $5, $6)`,
    subjectOf(claim),
    network,
    sinceMs,
    untold === undefined ? null : sinceMs,
    untold?.callerIp ?? null,
    untold?.requestId ?? null,
  )
  for (const counted of [ALL_NETWORKS, network]) {
    await sql.run(
      `insert into claim_networks (network, held) values ($1, 1)
       on conflict (network) do update set held = claim_networks.held + 1`,
      counted,
    )
  }
}

/** Renews a claim that is in use, if there is one: it counts as made now. */
export async function renewClaim(sql: Sql, claim: ClaimKey, sinceMs: number): Promise<void> {
  await sql.run('update claims set since = $2 where subject = $1 and since < $2', subjectOf(claim), sinceMs)
}

/** Reads when a claim was made or last renewed; `undefined` when there is none. */
export async function readClaimSinceMs(sql: Sql, claim: ClaimKey): Promise<number | undefined> {
  const row = await sql.get<{ since: bigint }>('select since from claims where subject = $1', subjectOf(claim))
  return row === undefined ? undefined : Number(row.since)
}

/** Removes a claim and returns it, if there is one: it was proven, or its record is gone. */
export async function removeClaim(sql: Sql, claim: ClaimKey): Promise<ClaimSource | undefined> {
  const row = await sql.get<{ network: string; since: bigint } & RequestRow>(
    'delete from claims where subject = $1 returning network, since, asked_at, caller_ip, request_id',
    subjectOf(claim),
  )
  if (row === undefined) return undefined
  for (const counted of [ALL_NETWORKS, row.network]) {
    await sql.run('update claim_networks set held = held - 1 where network = $1', counted)
  }
  await sql.run('delete from claim_networks where network = $1 and held = 0', row.network)
  return {
    network: row.network,
    sinceMs: Number(row.since),
    untold: row.asked_at === null ? undefined : toOrigin(row),
  }
}

/** Counts all claims, and lets nobody else add or remove one until the end of the transaction. */
export async function holdClaimCount(sql: Sql): Promise<number> {
  const row = await sql.get<{ held: bigint }>(
    `select held from claim_networks where network = $1${holding(sql)}`,
    ALL_NETWORKS,
  )
  return Number(row?.held ?? 0n)
}

/**
 * Holds a claim until the end of the transaction. Returns false when there is none any more, and while another
 * transaction holds it, which may wait for what this one holds.
 */
export async function holdClaimRow(sql: Sql, claim: ClaimKey): Promise<boolean> {
  const row = await sql.get(`select since from claims where subject = $1${holdingFree(sql)}`, subjectOf(claim))
  return row !== undefined
}

/** Finds the oldest claim of the network that holds the most, past that many networks and claims. */
export async function findCrowdedClaim(
  sql: Sql,
  skipped: { readonly networks: number; readonly claims: number },
): Promise<ClaimKey | undefined> {
  const row = await sql.get<{ subject: string }>(
    `select subject from claims
     where network = (
       select network from claim_networks where network <> $1 order by held desc, network limit 1 offset $2
     )
     order by since limit 1 offset $3`,
    ALL_NETWORKS,
    skipped.networks,
    skipped.claims,
  )
  return row === undefined ? undefined : toKey(row.subject)
}

/** Lists the oldest claims of before a moment. */
export async function listOldClaims(sql: Sql, beforeMs: number, limit: number): Promise<ClaimKey[]> {
  const rows = await sql.all<{ subject: string }>(
    'select subject from claims where since < $1 order by since limit $2',
    beforeMs,
    limit,
  )
  return rows.map(({ subject }) => toKey(subject))
}

/**
 * Erases the callers' addresses of up to `limit` claims made before `beforeMs`. Returns the number of claims. Reads the
 * whole table, because an index would cost more room than that costs time once an hour.
 */
export async function eraseClaimIps(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  return sql.run(
    `update claims set caller_ip = null where subject in
       (select subject from claims where caller_ip is not null and asked_at < $1 limit $2)`,
    beforeMs,
    limit,
  )
}

/** Returns a claim as one text: the chain and the agent, or the chain, the trader and the label. */
function subjectOf({ chain, agent, trader, label }: ClaimKey): string {
  return agent === '' ? `${chain} ${trader} ${label}` : `${chain} ${agent}`
}

function toKey(subject: string): ClaimKey {
  const [chain = '', address = '', ...words] = subject.split(' ')
  const isAgent = words.length === 0
  return {
    chain: chain as ChainSlug,
    agent: isAgent ? (address as Address) : '',
    trader: isAgent ? '' : (address as Address),
    label: words.join(' '),
  }
}

function toOrigin({ caller_ip: callerIp, request_id: requestId }: RequestRow): AuditOrigin {
  return { ...(callerIp !== null && { callerIp }), ...(requestId !== null && { requestId }) }
}
