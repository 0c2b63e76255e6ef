import { Usd, type Address, type AgentMode, type AgentScope, type ChainSlug } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { Sql } from './sql.ts'

interface AgentRow {
  readonly chain: string
  readonly agent: string
  readonly trader: string
  readonly name: string
  readonly scope: string
  readonly mode: string
  readonly agent_signed: bigint
  readonly revoked: bigint
  readonly created_at: bigint
  readonly signed_at: bigint
}

const COLUMNS = 'chain, agent, trader, name, scope, mode, agent_signed, revoked, created_at, signed_at'

/** Reads every agent of every chain. */
export async function loadAgents(sql: Sql): Promise<AgentRecord[]> {
  return (await sql.all<AgentRow>(`select ${COLUMNS} from agents`)).map(toRecord)
}

export async function findAgent(sql: Sql, chain: ChainSlug, agent: Address): Promise<AgentRecord | undefined> {
  const row = await sql.get<AgentRow>(`select ${COLUMNS} from agents where chain = $1 and agent = $2`, chain, agent)
  return row === undefined ? undefined : toRecord(row)
}

/** Inserts an agent, or replaces the record of the same agent. */
export async function saveAgent(sql: Sql, record: AgentRecord): Promise<void> {
  await sql.run(
    `insert into agents (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (chain, agent) do update set trader = $3, name = $4, scope = $5, mode = $6, agent_signed = $7,
       revoked = $8, created_at = $9, signed_at = $10`,
    record.chain,
    record.agent,
    record.trader,
    record.name,
    JSON.stringify(record.scope),
    record.mode,
    record.agentSigned ? 1n : 0n,
    record.revoked ? 1n : 0n,
    BigInt(record.createdAtMs),
    BigInt(record.signedAtMs),
  )
}

function toRecord(row: AgentRow): AgentRecord {
  return {
    chain: row.chain as ChainSlug,
    agent: row.agent as Address,
    trader: row.trader as Address,
    name: row.name,
    scope: JSON.parse(row.scope) as AgentScope,
    mode: row.mode as AgentMode,
    agentSigned: row.agent_signed === 1n,
    revoked: row.revoked === 1n,
    createdAtMs: Number(row.created_at),
    signedAtMs: Number(row.signed_at),
  }
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
  of: { readonly chain: ChainSlug; readonly agent: Address; readonly day: number; readonly usd: Usd },
): Promise<void> {
  const total = (await readSpentUsd(sql, of.chain, of.agent, of.day)) + of.usd
  await sql.run(
    `insert into spend (chain, agent, day, spent_usd) values ($1, $2, $3, $4)
     on conflict (chain, agent, day) do update set spent_usd = $4`,
    of.chain,
    of.agent,
    of.day,
    String(total),
  )
}
