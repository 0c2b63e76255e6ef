import type { Address, AgentAnswerSchema } from '@bezel/protocol'
import type { Static } from '@sinclair/typebox'
import type { ServedChain } from '../chain/servedChain.ts'
import { agentStatus, type AgentRecord } from './agentRecord.ts'
import { delegationTx } from './delegationTx.ts'

export type AgentAnswer = Static<typeof AgentAnswerSchema>

/** An agent as the API shows it. `delegate` is who the chain lets trade for its trader, as far as is known. */
export function agentAnswer(
  chain: ServedChain,
  record: AgentRecord,
  delegate: Address | undefined,
  nowMs: number,
): AgentAnswer {
  const { agent, trader, name, scope, mode, createdAtMs } = record
  const status = agentStatus(record, delegate === agent, nowMs)
  return {
    agent: { agent, trader, name, scope, mode, status, createdAt: createdAtMs },
    delegationTx: agent === trader ? null : delegationTx(chain, agent),
  }
}
