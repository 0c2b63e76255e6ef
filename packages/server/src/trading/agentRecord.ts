import type { Address, AgentMode, AgentScope, AgentStatus, ChainSlug } from '@bezel/protocol'

/** An agent as registered. Whether it may act also depends on the chain and the clock: see `agentStatus`. */
export interface AgentRecord {
  readonly chain: ChainSlug
  readonly agent: Address
  readonly trader: Address
  /** `""` when none was given. */
  readonly name: string
  readonly scope: AgentScope
  readonly mode: AgentMode
  /** Whether the agent itself signed for this trader, so that nobody can claim somebody else's agent. */
  readonly agentSigned: boolean
  readonly revoked: boolean
  readonly createdAtMs: number
  /** Timestamp of the last struct of the master wallet that was accepted; an older one is a replay. */
  readonly signedAtMs: number
}

/** Revoked, then expired, then whether the chain lets it act, or has no say in it (interface.md section 3). */
export function agentStatus(record: AgentRecord, isDelegated: boolean, nowMs: number): AgentStatus {
  if (record.revoked) return 'revoked'
  if (isExpired(record, nowMs)) return 'expired'
  return isDelegated ? 'active' : 'pending_delegation'
}

export function isExpired({ scope }: AgentRecord, nowMs: number): boolean {
  return scope.expiresAt !== null && scope.expiresAt <= nowMs
}
