import type { Address } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import type { ChainAgents } from './chainAgents.ts'

/** Whom the chain has to let trade so that this agent can: the agent itself, or the relayer that sends for it. */
export function requiredDelegate(
  { relayer }: Pick<ChainAgents, 'relayer'>,
  { mode, agent }: Pick<AgentRecord, 'mode' | 'agent'>,
): Address {
  return mode === 'relayed' && relayer !== null ? relayer : agent
}
