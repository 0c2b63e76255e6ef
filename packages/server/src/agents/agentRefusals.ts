import { ApiError, type Address, diamondAbi, type TransactionRequest } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import { agentStatus, type AgentRecord } from '../trading/agentRecord.ts'
import { encodeFunctionData } from 'viem'

interface OnChain {
  readonly chainId: number
  readonly diamond: Address
}

/** Throws when the trader revoked the agent or its scope's expiry has passed. */
export function requireInForce(record: AgentRecord, nowMs: number): void {
  const refusal = outOfForce(record, nowMs)
  if (refusal !== undefined) throw refusal
}

/** Returns the error that `requireInForce` throws; `undefined` when it throws none. */
export function outOfForce(record: AgentRecord, nowMs: number): ApiError | undefined {
  const status = agentStatus(record, true, nowMs)
  if (status === 'revoked') return new ApiError('AGENT_REVOKED', 'The trader revoked this agent.')
  if (status === 'expired') {
    const at = new Date(record.scope.expiresAt ?? nowMs).toISOString()
    return new ApiError('AGENT_EXPIRED', `The scope of this agent expired at ${at}.`)
  }
  return undefined
}

/** Returns the refusal of a write by an agent that may only read. */
export function readOnlyAgent(): ApiError {
  return new ApiError('SCOPE_READ_ONLY', "This agent's scope lets it read only.")
}

/**
 * Returns true when the agent also needs the on-chain delegation. Reading does not need it, nor does a trader who acts
 * for itself.
 */
export function needsDelegation({ scope, agent, trader }: AgentRecord): boolean {
  return scope.permissions !== 'read' && agent !== trader
}

/**
 * Returns the refusal, with the transaction that the trader has to send so that `sender`, the agent or its relayer, can
 * act.
 */
export function agentNotDelegated(chain: ServedChain, sender: Address): ApiError {
  return new ApiError('AGENT_NOT_DELEGATED', "The trader's on-chain delegate is not this agent.", {
    delegationTx: delegationTx(chain, sender),
  })
}

/** Returns the transaction by which the trader lets `delegate` trade for it. */
export function delegationTx({ chainId, diamond }: OnChain, delegate: Address): TransactionRequest {
  const data = encodeFunctionData({ abi: diamondAbi, functionName: 'setTradingDelegate', args: [delegate] })
  return { to: diamond, data, chainId }
}

/** Returns the transaction by which the trader ends any delegation. */
export function revocationTx({ chainId, diamond }: OnChain): TransactionRequest {
  return { to: diamond, data: encodeFunctionData({ abi: diamondAbi, functionName: 'removeTradingDelegate' }), chainId }
}
