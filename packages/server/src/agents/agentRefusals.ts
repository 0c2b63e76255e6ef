import { ApiError, type Address } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import { agentStatus, type AgentRecord } from '../trading/agentRecord.ts'
import { delegationTx } from './delegationTx.ts'

/** Throws when the trader revoked the agent or its scope's expiry has passed. */
export function requireInForce(record: AgentRecord, nowMs: number): void {
  const refusal = outOfForce(record, nowMs)
  if (refusal !== undefined) throw refusal
}

/** What `requireInForce` throws. */
export function outOfForce(record: AgentRecord, nowMs: number): ApiError | undefined {
  const status = agentStatus(record, true, nowMs)
  if (status === 'revoked') return new ApiError('AGENT_REVOKED', 'The trader revoked this agent.')
  if (status === 'expired') return new ApiError('AGENT_EXPIRED', "The expiry of this agent's scope has passed.")
  return undefined
}

/** Whether the chain has a say in what the agent does here: it has none in reading, nor in what traders do for themselves. */
export function needsDelegation({ scope, agent, trader }: AgentRecord): boolean {
  return scope.permissions !== 'read' && agent !== trader
}

/** Says what the trader has to send so that `sender`, the agent or its relayer, can act. */
export function agentNotDelegated(chain: ServedChain, sender: Address): ApiError {
  return new ApiError(
    'AGENT_NOT_DELEGATED',
    "The trader's on-chain delegate is not this agent: the trader sends details.delegationTx once.",
    { delegationTx: delegationTx(chain, sender) },
  )
}
