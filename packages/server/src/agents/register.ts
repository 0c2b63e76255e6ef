import { ApiError } from '@bezel/protocol'
import { isExpired, type AgentRecord } from './agentRecord.ts'

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

/** A struct of the master wallet has no nonce: each must be newer than the last one accepted. */
export function refuseReplay(lastSignedAtMs: number, signedAtMs: number): void {
  if (signedAtMs > lastSignedAtMs) return
  throw new ApiError(
    'NONCE_REUSED',
    'A struct with this timestamp or a later one was already accepted: sign a new one.',
  )
}
