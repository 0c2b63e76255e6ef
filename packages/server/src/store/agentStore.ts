import { Usd, type Address, type AgentMode, type ChainSlug } from '@bezel/protocol'
import type { AgentRecord, AgentStanding } from '../trading/agentRecord.ts'
import { encodeScope, scopeDecoder } from './scopeStore.ts'
import { holding, holdingFree, type Sql } from './sql.ts'

interface AgentRow {
  readonly chain: string
  readonly agent: string
  readonly trader: string
  readonly name: string
  readonly scope: string
  readonly mode: string
  readonly agent_signed: bigint
  readonly revoked: bigint
  readonly standing: bigint
  readonly created_at: bigint
  readonly signed_at: bigint
}

const COLUMNS = 'chain, agent, trader, name, scope, mode, agent_signed, revoked, standing, created_at, signed_at'

/** The stored numbers of an agent's standing are the places in this list. */
const STANDINGS: readonly AgentStanding[] = ['claimed', 'delegated', 'used', 'seen']

/** The stored expiry of an agent that never expires. */
const NEVER_MS = Number.MAX_SAFE_INTEGER

/** The number of agents in memory while their expiries are copied. */
const COPIED_AT_ONCE = 500

/** The greatest number of a trader's agents that are listed: more than can be in force. */
const MAX_LISTED = 100

export async function findAgent(sql: Sql, chain: ChainSlug, agent: Address): Promise<AgentRecord | undefined> {
  const row = await sql.get<AgentRow>(`select ${COLUMNS} from agents where chain = $1 and agent = $2`, chain, agent)
  return row === undefined ? undefined : (await toRecords(sql, [row]))[0]
}

/**
 * Finds an agent and holds its row until the end of the transaction. Two traders may be about to change the same agent,
 * each alone with itself, and a claim on a full table may end one of another chain: whoever saves a record reads it
 * this way before.
 */
export async function holdAgent(sql: Sql, chain: ChainSlug, agent: Address): Promise<AgentRecord | undefined> {
  const row = await sql.get<AgentRow>(
    `select ${COLUMNS} from agents where chain = $1 and agent = $2${holding(sql)}`,
    chain,
    agent,
  )
  return row === undefined ? undefined : (await toRecords(sql, [row]))[0]
}

/**
 * Holds an agent's record like `holdAgent`, without waiting. Returns false while another transaction holds it: for
 * whoever holds what that may wait for.
 */
export async function holdFreeAgent(sql: Sql, chain: ChainSlug, agent: Address): Promise<boolean> {
  const find = 'select 1 as one from agents where chain = $1 and agent = $2'
  const held = await sql.get(`${find}${holdingFree(sql)}`, chain, agent)
  return held !== undefined || (await sql.get(find, chain, agent)) === undefined
}

/** Inserts an agent, or replaces the record of the same agent. */
export async function saveAgent(sql: Sql, record: AgentRecord): Promise<void> {
  await sql.run(
    `insert into agents (${COLUMNS}, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (chain, agent) do update set trader = $3, name = $4, scope = $5, mode = $6, agent_signed = $7,
       revoked = $8, standing = $9, created_at = $10, signed_at = $11, expires_at = $12`,
    record.chain,
    record.agent,
    record.trader,
    record.name,
    await encodeScope(sql, record.scope),
    record.mode,
    record.agentSigned ? 1n : 0n,
    record.revoked ? 1n : 0n,
    BigInt(STANDINGS.indexOf(record.standing)),
    BigInt(record.createdAtMs),
    BigInt(record.signedAtMs),
    BigInt(record.scope.expiresAt ?? NEVER_MS),
  )
}

export async function deleteAgent(sql: Sql, chain: ChainSlug, agent: Address): Promise<void> {
  await sql.run('delete from agents where chain = $1 and agent = $2', chain, agent)
}

/**
 * Lists a trader's agents in the order of their registration: all that are neither revoked nor expired, and the newest
 * of the others. Ties are ordered by address, so the order is stable.
 */
export async function listAgentsOf(
  sql: Sql,
  chain: ChainSlug,
  trader: Address,
  nowMs: number,
): Promise<readonly AgentRecord[]> {
  const rows = await sql.all<AgentRow>(
    `select ${COLUMNS} from agents where chain = $1 and trader = $2
     order by case when revoked = 1 or expires_at <= $3 then 1 else 0 end, created_at desc, agent desc
     limit ${MAX_LISTED}`,
    chain,
    trader,
    nowMs,
  )
  const records = await toRecords(sql, rows)
  return records.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.agent < b.agent ? -1 : 1))
}

/** Returns true when the trader has agents, also when none of them is in force. */
export async function hasAgents(sql: Sql, { chain, trader }: Pick<AgentRecord, 'chain' | 'trader'>): Promise<boolean> {
  return (await sql.get('select 1 from agents where chain = $1 and trader = $2 limit 1', chain, trader)) !== undefined
}

/** Counts a trader's agents that are neither revoked nor expired, without the one named. */
export async function countOtherAgents(
  sql: Sql,
  { chain, trader, agent }: Pick<AgentRecord, 'chain' | 'trader' | 'agent'>,
  nowMs: number,
): Promise<number> {
  const row = await sql.get<{ count: bigint }>(
    `select count(*) as count from agents
     where chain = $1 and trader = $2 and agent <> $3 and revoked = 0 and expires_at > $4`,
    chain,
    trader,
    agent,
    nowMs,
  )
  return Number(row?.count ?? 0n)
}

/** Lists the agents that a trader approved for the relayer under a name, without the revoked ones. */
export async function listRelayedNamesakes(
  sql: Sql,
  { chain, trader, name }: Pick<AgentRecord, 'chain' | 'trader' | 'name'>,
): Promise<AgentRecord[]> {
  const rows = await sql.all<AgentRow>(
    `select ${COLUMNS} from agents where chain = $1 and trader = $2 and name = $3 and mode = 'relayed' and revoked = 0`,
    chain,
    trader,
    name,
  )
  return toRecords(sql, rows)
}

/** Counts a trader's agents that are proven, the revoked ones too, up to a number. */
export async function countProvenAgents(
  sql: Sql,
  { chain, trader }: Pick<AgentRecord, 'chain' | 'trader'>,
  upTo: number,
): Promise<number> {
  const row = await sql.get<{ count: bigint }>(
    `select count(*) as count from (
       select 1 from agents where chain = $1 and trader = $2 and standing in (1, 2) limit $3
     ) as proven`,
    chain,
    trader,
    upTo,
  )
  return Number(row?.count ?? 0n)
}

/** Counts a trader's agents that are not proven, without the one named. */
export async function countOtherClaims(
  sql: Sql,
  { chain, trader, agent }: Pick<AgentRecord, 'chain' | 'trader' | 'agent'>,
): Promise<number> {
  const row = await sql.get<{ count: bigint }>(
    `select count(*) as count from agents
     where chain = $1 and trader = $2 and agent <> $3 and standing in (0, 3)`,
    chain,
    trader,
    agent,
  )
  return Number(row?.count ?? 0n)
}

/** Lists a trader's agents that are not proven and revoked or expired, without the one named, the oldest first. */
export async function listEndedClaims(
  sql: Sql,
  { chain, trader, agent }: Pick<AgentRecord, 'chain' | 'trader' | 'agent'>,
  of: { readonly nowMs: number; readonly limit: number },
): Promise<Address[]> {
  const rows = await sql.all<{ agent: string }>(
    `select agent from agents
     where chain = $1 and trader = $2 and agent <> $3 and standing in (0, 3) and (revoked = 1 or expires_at <= $4)
     order by signed_at, agent limit $5`,
    chain,
    trader,
    agent,
    of.nowMs,
    of.limit,
  )
  return rows.map((row) => row.agent as Address)
}

/** Lists the traders that an agent was used for on other chains. */
export async function listUsersElsewhere(
  sql: Sql,
  { chain, agent }: Pick<AgentRecord, 'chain' | 'agent'>,
): Promise<Address[]> {
  const rows = await sql.all<{ trader: string }>(
    'select distinct trader from agents where agent = $2 and chain <> $1 and standing = 2',
    chain,
    agent,
  )
  return rows.map(({ trader }) => trader as Address)
}

/** Lists the agents of a chain that were in force, are not revoked, and expire in a span of time. */
export async function listExpiringAgents(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly afterMs: number; readonly untilMs: number; readonly limit: number },
): Promise<AgentRecord[]> {
  const rows = await sql.all<AgentRow>(
    `select ${COLUMNS} from agents
     where chain = $1 and standing > 0 and revoked = 0 and expires_at > $2 and expires_at <= $3
     order by expires_at desc, agent limit $4`,
    of.chain,
    of.afterMs,
    of.untilMs,
    of.limit,
  )
  return toRecords(sql, rows)
}

/** Copies the expiry of scopes into the column of its own, for agents stored before there was one. */
export async function copyExpiries(sql: Sql): Promise<void> {
  for (let last: Pick<AgentRow, 'chain' | 'agent'> | undefined = { chain: '', agent: '' }; last !== undefined;) {
    const rows: AgentRow[] = await sql.all<AgentRow>(
      `select ${COLUMNS} from agents where (chain, agent) > ($1, $2) and expires_at = 0
       order by chain, agent limit ${COPIED_AT_ONCE}`,
      last.chain,
      last.agent,
    )
    for (const record of await toRecords(sql, rows)) await saveAgent(sql, record)
    last = rows.at(-1)
  }
}

async function toRecords(sql: Sql, rows: readonly AgentRow[]): Promise<AgentRecord[]> {
  const decode = await scopeDecoder(
    sql,
    rows.map(({ scope }) => scope),
  )
  return rows.map((row) => ({
    chain: row.chain as ChainSlug,
    agent: row.agent as Address,
    trader: row.trader as Address,
    name: row.name,
    scope: decode(row.scope),
    mode: row.mode as AgentMode,
    agentSigned: row.agent_signed === 1n,
    revoked: row.revoked === 1n,
    standing: STANDINGS[Number(row.standing)]!,
    createdAtMs: Number(row.created_at),
    signedAtMs: Number(row.signed_at),
  }))
}

/** Reads, by trader, the agent last seen as its delegate on the chain. */
export async function loadDelegations(sql: Sql, chain: ChainSlug): Promise<Map<Address, Address>> {
  const rows = await sql.all<{ trader: string; agent: string }>(
    'select trader, agent from seen_delegations where chain = $1',
    chain,
  )
  return new Map(rows.map(({ trader, agent }) => [trader as Address, agent as Address]))
}

/**
 * Stores the agent last seen as the trader's delegate; `undefined` when the delegate is no agent of this deployment.
 */
export async function saveDelegation(
  sql: Sql,
  of: { readonly chain: ChainSlug; readonly trader: Address; readonly agent: Address | undefined },
): Promise<void> {
  const { chain, trader, agent } = of
  if (agent === undefined) {
    await sql.run('delete from seen_delegations where chain = $1 and trader = $2', chain, trader)
    return
  }
  await sql.run(
    `insert into seen_delegations (chain, trader, agent) values ($1, $2, $3)
     on conflict (chain, trader) do update set agent = $3`,
    chain,
    trader,
    agent,
  )
}

/** Reads the amount that an agent's orders count on a UTC day, in days since the epoch. */
export async function readSpentUsd(sql: Sql, chain: ChainSlug, agent: Address, day: number): Promise<Usd> {
  const row = await sql.get<{ spent_usd: string }>(
    'select spent_usd from spend where chain = $1 and agent = $2 and day = $3',
    chain,
    agent,
    day,
  )
  return Usd.of(BigInt(row?.spent_usd ?? 0))
}

/**
 * Adds to an agent's spend of a day; a negative amount gives back. Runs in the transaction that changes the order, so
 * that the two never differ.
 */
export async function addSpend(
  sql: Sql,
  {
    chain,
    agent,
    day,
    usd,
  }: { readonly chain: ChainSlug; readonly agent: Address; readonly day: number; readonly usd: Usd },
): Promise<void> {
  if (sql.engine === 'postgres') return sql.write(ADD_SPEND, chain, agent, day, String(usd))
  // SQLite's whole numbers are too short for amounts.
  const total = (await readSpentUsd(sql, chain, agent, day)) + usd
  sql.write(
    `insert into spend (chain, agent, day, spent_usd) values ($1, $2, $3, $4)
     on conflict (chain, agent, day) do update set spent_usd = $4`,
    chain,
    agent,
    day,
    String(total),
  )
}

/**
 * Adds to the spend of a day in PostgreSQL, which can add amounts of any size. In one statement, because an agent that
 * moved has orders of two traders, who are not alone with each other.
 */
const ADD_SPEND = `insert into spend (chain, agent, day, spent_usd) values ($1, $2, $3, $4)
   on conflict (chain, agent, day) do update
   set spent_usd = cast(cast(spend.spent_usd as numeric) + cast(excluded.spent_usd as numeric) as text)`
