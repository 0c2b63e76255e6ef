import { requiredDelegate } from '../agents/requiredDelegate.ts'
import { requireInForce, needsDelegation, agentNotDelegated } from '../agents/agentRefusals.ts'
import type { ChainAgents } from '../agents/chainAgents.ts'
import type { Caller } from './caller.ts'
/** An API key is good until it is replaced; an agent must be neither revoked nor expired and, to trade, the trader's delegate. */
export async function requireUsable(caller: Caller, agents: ChainAgents, nowMs: number): Promise<void> {
  if (caller.via === 'apiKey') return
  const { agent: record } = caller
  requireInForce(record, nowMs)
  if (!needsDelegation(record)) return
  const required = requiredDelegate(agents, record)
  if (!(await agents.delegates.isDelegate(record.trader, required))) throw agentNotDelegated(agents.chain, required)
}
