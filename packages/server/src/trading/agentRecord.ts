import type { Address, AgentMode, AgentScope, AgentStatus, ChainSlug } from '@bezel/protocol'

/** An agent as registered. Its permission to act also depends on the chain and the clock, see `agentStatus`. */
export interface AgentRecord {
  readonly chain: ChainSlug
  readonly agent: Address
  readonly trader: Address
  /** Name of the agent; `""` when none was given. */
  readonly name: string
  readonly scope: AgentScope
  readonly mode: AgentMode
  /** True when the agent itself signed for this trader, so that nobody can claim another trader's agent. */
  readonly agentSigned: boolean
  readonly revoked: boolean
  readonly createdAtMs: number
  /** Timestamp of the last accepted struct that the master wallet signed; an older one is a replay. */
  readonly signedAtMs: number
}

/**
 * Returns an agent's status: revoked, then expired, then by its on-chain delegation (interface.md section 3).
 * `isDelegated` is also true for an agent that needs no delegation.
 */
export function agentStatus(record: AgentRecord, isDelegated: boolean, nowMs: number): AgentStatus {
  if (record.revoked) return 'revoked'
  if (isExpired(record, nowMs)) return 'expired'
  return isDelegated ? 'active' : 'pending_delegation'
}

export function isExpired({ scope }: AgentRecord, nowMs: number): boolean {
  return scope.expiresAt !== null && scope.expiresAt <= nowMs
}
