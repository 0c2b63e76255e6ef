import type { Address, AgentMode, AgentScope, ChainSlug } from '@bezel/protocol'
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

/** Every agent of every chain. */
export async function loadAgents(sql: Sql): Promise<AgentRecord[]> {
  return (await sql.all<AgentRow>(`select ${COLUMNS} from agents`)).map(toRecord)
}

export async function findAgent(sql: Sql, chain: ChainSlug, agent: Address): Promise<AgentRecord | undefined> {
  const row = await sql.get<AgentRow>(`select ${COLUMNS} from agents where chain = $1 and agent = $2`, chain, agent)
  return row === undefined ? undefined : toRecord(row)
}

/** New, or in place of what was stored for the same agent. */
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
