import { ApiError } from '@bezel/protocol'
import type { AgentRecord } from '../agents/agentRecord.ts'
import { agentNotDelegated, requireInForce } from '../agents/agentRefusals.ts'
import { findAgent } from '../store/agentStore.ts'
import type { Sql } from '../store/sql.ts'
import type { ChainOrders } from './chainOrders.ts'

/** Who writes, as the request's signature says, and the nonce it used up in memory. */
export interface SignedWrite {
  readonly agent: AgentRecord
  readonly nonce: string
  readonly timestampMs: number
}

/**
 * The first step of every write's transaction: its nonce is used up for good with it, and the agent is looked at again, because the trader
 * may have revoked it, or narrowed its scope, while the node was asked. The agent as it is now.
 */
export async function claimWrite(
  sql: Sql,
  { chain, nonces }: ChainOrders,
  { agent: asked, nonce, timestampMs }: SignedWrite,
  nowMs: number,
): Promise<AgentRecord> {
  if (!(await nonces.storeClaim(sql, chain.slug, asked.agent, nonce, timestampMs))) throw nonceReused()
  const agent = await findAgent(sql, chain.slug, asked.agent)
  if (agent === undefined) throw new ApiError('AGENT_UNKNOWN', 'This agent is not registered on this chain.')
  requireInForce(agent, nowMs)
  if (agent.trader !== asked.trader) throw new ApiError('AGENT_REVOKED', 'This agent now serves another trader.')
  if (agent.scope.permissions === 'read') throw new ApiError('SCOPE_READ_ONLY', "This agent's scope lets it read only.")
  if (agent.mode === 'relayed' && agent.agent !== agent.trader) throw agentNotDelegated(chain, agent)
  return agent
}

export function nonceReused(): ApiError {
  return new ApiError('NONCE_REUSED', 'This agent already used this nonce: use a new one for each request.')
}
