import type { Address, AgentAnswerSchema } from '@bezel/protocol'
import type { Static } from '@sinclair/typebox'
import { agentStatus, type AgentRecord } from '../trading/agentRecord.ts'
import type { ChainAgents } from './chainAgents.ts'
import { delegationTx } from './delegationTx.ts'
import { requiredDelegate } from './requiredDelegate.ts'

export type AgentAnswer = Static<typeof AgentAnswerSchema>

/** An agent as the API shows it. `delegate` is who the chain lets trade for its trader, as far as is known. */
export function agentAnswer(
  agents: Pick<ChainAgents, 'chain' | 'relayer'>,
  record: AgentRecord,
  delegate: Address | undefined,
  nowMs: number,
): AgentAnswer {
  const { agent, trader, name, scope, mode, createdAtMs } = record
  const required = requiredDelegate(agents, record)
  const isDelegated = delegate === required || agent === trader
  const status = agentStatus(record, isDelegated, nowMs)
  return {
    agent: { agent, trader, name, scope, mode, status, createdAt: createdAtMs },
    delegationTx: required === trader ? null : delegationTx(agents.chain, required),
  }
}
