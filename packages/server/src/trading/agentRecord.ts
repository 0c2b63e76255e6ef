import type { Address, AgentMode, AgentScope, AgentStatus, ChainSlug } from '@bezel/protocol'

/**
 * The proof that a trader and an agent belong together: only claimed; seen, which means that requests of the agent were
 * accepted while nothing on the chain speaks for its trader; delegated on the chain; or used, which is both.
 */
export type AgentStanding = 'claimed' | 'seen' | 'delegated' | 'used'

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
  /** Strongest proof for this trader. It never goes back, also when the agent is revoked or expires. */
  readonly standing: AgentStanding
  readonly createdAtMs: number
  /** Timestamp of the last accepted struct that the master wallet signed; an older one is a replay. */
  readonly signedAtMs: number
}

/** True when the chain speaks for the agent's trader: the record is kept for ever. Any other one is a claim. */
export function isProven({ standing }: Pick<AgentRecord, 'standing'>): boolean {
  return standing === 'delegated' || standing === 'used'
}

/** True when a request of the agent was accepted for its trader. */
export function wasUsed({ standing }: Pick<AgentRecord, 'standing'>): boolean {
  return standing === 'seen' || standing === 'used'
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
