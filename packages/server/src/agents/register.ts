import { ApiError } from '@bezel/protocol'
import { isExpired, type AgentRecord } from '../trading/agentRecord.ts'
import type { Registry } from './registry.ts'

/** In force, of one trader on one chain: an account is shown with all of them. */
export const MAX_AGENTS = 50

/**
 * Whether a registration may take the place of what is stored for the same agent. Throws the refusal. An agent serves one trader
 * per chain, and only the trader's signature is required, so a stranger could claim somebody's agent: the agent's own signature settles it.
 */
export function checkRegistration(stored: AgentRecord | undefined, next: AgentRecord, nowMs: number): void {
  if (stored === undefined) return
  const isOtherTrader = stored.trader !== next.trader
  const provesMore = next.agentSigned && !stored.agentSigned
  if (isOtherTrader && !next.agentSigned && !stored.revoked && !isExpired(stored, nowMs)) {
    throw new ApiError(
      'TRADER_MISMATCH',
      'This agent is registered for another trader. Send agentSignature, the signature of the agent itself over the same struct, to move it.',
    )
  }
  // A stranger's claim may carry a timestamp ahead of ours; it must not keep the agent's own trader out.
  if (isOtherTrader && provesMore) return
  refuseReplay(stored.signedAtMs, next.signedAtMs)
}

/** Anybody may register agents, so each trader may have so many and no more. Throws the refusal. */
export function refuseManyAgents(registry: Pick<Registry, 'agentsOf'>, next: AgentRecord, nowMs: number): void {
  const others = registry
    .agentsOf(next.chain, next.trader)
    .filter((record) => record.agent !== next.agent && !record.revoked && !isExpired(record, nowMs))
  if (others.length < MAX_AGENTS) return
  const message = `This trader has ${MAX_AGENTS} agents on this chain: revoke one before another is registered.`
  throw new ApiError('UNSUPPORTED', message, { limit: MAX_AGENTS })
}

/** A struct of the master wallet has no nonce: each must be newer than the last one accepted. */
export function refuseReplay(lastSignedAtMs: number, signedAtMs: number): void {
  if (signedAtMs > lastSignedAtMs) return
  throw new ApiError(
    'NONCE_REUSED',
    'A struct with this timestamp or a later one was already accepted: sign a new one.',
  )
}
