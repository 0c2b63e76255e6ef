import { ApiError } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import { agentStatus, type AgentRecord } from './agentRecord.ts'
import { delegationTx } from './delegationTx.ts'

/** Throws when the trader revoked the agent or its scope's expiry has passed. */
export function requireInForce(record: AgentRecord, nowMs: number): void {
  const status = agentStatus(record, true, nowMs)
  if (status === 'revoked') throw new ApiError('AGENT_REVOKED', 'The trader revoked this agent.')
  if (status === 'expired') throw new ApiError('AGENT_EXPIRED', "The expiry of this agent's scope has passed.")
}

/** Says what the trader has to send so that the agent can act. */
export function agentNotDelegated(chain: ServedChain, { agent }: AgentRecord): ApiError {
  return new ApiError(
    'AGENT_NOT_DELEGATED',
    "The trader's on-chain delegate is not this agent: the trader sends details.delegationTx once.",
    { delegationTx: delegationTx(chain, agent) },
  )
}
