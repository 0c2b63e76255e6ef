import { ApiError, parseAddress, type Address, type RevokeAgentRequest, type SigningDomain } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import { agentRevocation } from '../signatures/digests.ts'
import { isProven, type AgentRecord } from '../trading/agentRecord.ts'
import { requireMasterSignature, type MasterSignatureOptions } from './masterSignature.ts'
import type { AuditOrigin } from '../store/auditStore.ts'
import { noteSignedAt } from '../store/acceptedStructStore.ts'
import { refuseReplay } from './claims.ts'
import { noteStructs } from './proofs.ts'
import type { Registry } from './registry.ts'
import { tellAgentEnded } from './rightsLog.ts'

/** Disables an agent at once. The chain itself trusts the agent until the trader's own transaction is mined. */
export async function revokeAgent(
  of: { readonly chain: ServedChain; readonly domain: SigningDomain; readonly registry: Registry },
  agent: Address,
  body: RevokeAgentRequest,
  options: MasterSignatureOptions & { readonly origin?: AuditOrigin | undefined },
): Promise<AgentRecord> {
  const trader = parseAddress(body.trader)
  if (trader === undefined) throw new ApiError('VALIDATION_ERROR', 'trader must be an address.')
  const { timestamp: timestampMs, signature } = body
  const signed = agentRevocation(of.domain, { agent, timestamp: timestampMs })
  await requireMasterSignature({ ...signed, operationId: 'revokeAgent', trader, signature, timestampMs }, options)
  const pair = { chain: of.chain.slug, agent, trader }
  return of.registry.changeAgent(of.chain.slug, agent, async (stored, sql) => {
    if (stored === undefined || stored.trader !== trader) throw agentNotFound()
    // Not what the pair signed last: an approval may be dated ahead, and nobody waits for its time to revoke the agent.
    refuseReplay(stored.signedAtMs, timestampMs)
    // The record had when the agent itself signed. From now on it has when its trader revoked it.
    await noteStructs(sql, stored, options.nowMs)
    const noted = { signedAtMs: timestampMs, isKept: true, nowMs: options.nowMs }
    if (isProven(stored)) await noteSignedAt(sql, pair, noted)
    const revoked = { ...stored, revoked: true, signedAtMs: timestampMs }
    const cause = { ...options.origin, nowMs: options.nowMs }
    if (!stored.revoked) await tellAgentEnded(sql, 'agent_revoked', revoked, cause)
    return revoked
  })
}

export function agentNotFound(): ApiError {
  return new ApiError('AGENT_NOT_FOUND', 'No such agent is registered on this chain.')
}
