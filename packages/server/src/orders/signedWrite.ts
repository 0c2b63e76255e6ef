import { nonceReused } from '../access/nonceReused.ts'
import { ApiError, type Address } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { agentNotDelegated, requireInForce } from '../agents/agentRefusals.ts'
import { findAgent } from '../store/agentStore.ts'
import type { Sql } from '../store/sql.ts'
import type { Attempt } from '../trading/orders/orderModel.ts'
import type { ChainOrders } from './chainOrders.ts'

/** Who writes, as the request's signature says. */
export interface SignedWrite {
  readonly agent: AgentRecord
  /** Uses the request's nonce up for good, in the transaction of the write. False when it was used before. */
  readonly claim: (sql: Sql) => Promise<boolean>
  /** `null`: the agent sends what is prepared itself. */
  readonly relay: Relay | null
}

/** Sends what is prepared in place of agents that came through the facade. */
export interface Relay {
  readonly sender: Address
  /** Takes charge of a transaction, in the transaction of the store that keeps it: it is sent once that is durable. */
  take(sql: Sql, attempt: Attempt): Promise<void>
}

/** Whom the trader must have made its delegate. */
export function senderOf({ agent, relay }: Pick<SignedWrite, 'agent' | 'relay'>): Address {
  return relay?.sender ?? agent.agent
}

/** Whether the sender acts by right of being the trader, without any delegation. */
export function isOwnSender(write: Pick<SignedWrite, 'agent' | 'relay'>): boolean {
  return senderOf(write) === write.agent.trader
}

/**
 * The first step of every write's transaction: its nonce is used up for good with it, and the agent is looked at again, because the trader
 * may have revoked it, or narrowed its scope, while the node was asked. The agent as it is now.
 */
export async function claimWrite(
  sql: Sql,
  { chain }: ChainOrders,
  { agent: asked, claim, relay }: SignedWrite,
  nowMs: number,
): Promise<AgentRecord> {
  if (!(await claim(sql))) throw nonceReused()
  const agent = await findAgent(sql, chain.slug, asked.agent)
  if (agent === undefined) throw new ApiError('AGENT_UNKNOWN', 'This agent is not registered on this chain.')
  requireInForce(agent, nowMs)
  if (agent.trader !== asked.trader) throw new ApiError('AGENT_REVOKED', 'This agent now serves another trader.')
  if (agent.scope.permissions === 'read') throw new ApiError('SCOPE_READ_ONLY', "This agent's scope lets it read only.")
  // One delegate per trader: the mode says whose transactions it accepts.
  const isOther = agent.mode === (relay === null ? 'relayed' : 'self')
  if (isOther && agent.agent !== agent.trader) throw agentNotDelegated(chain, senderOf({ agent, relay }))
  return agent
}
