import { ApiError, parseAddress, type Address, type RevokeAgentRequest, type SigningDomain } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import { agentRevocation } from '../signatures/digests.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { requireMasterSignature, type MasterSignatureOptions } from './masterSignature.ts'
import { refuseReplay, type Registry } from './registry.ts'

/** Disables an agent at once. The chain itself trusts the agent until the trader's own transaction is mined. */
export async function revokeAgent(
  of: { readonly chain: ServedChain; readonly domain: SigningDomain; readonly registry: Registry },
  agent: Address,
  body: RevokeAgentRequest,
  options: MasterSignatureOptions,
): Promise<AgentRecord> {
  const trader = parseAddress(body.trader)
  if (trader === undefined) throw new ApiError('VALIDATION_ERROR', 'trader must be an address.')
  const { timestamp: timestampMs, signature } = body
  const signed = agentRevocation(of.domain, { agent, timestamp: timestampMs })
  await requireMasterSignature({ ...signed, operationId: 'revokeAgent', trader, signature, timestampMs }, options)
  return of.registry.changeAgent(of.chain.slug, agent, (stored) => {
    if (stored === undefined || stored.trader !== trader) throw agentNotFound()
    refuseReplay(stored.signedAtMs, timestampMs)
    return { ...stored, revoked: true, signedAtMs: timestampMs }
  })
}

export function agentNotFound(): ApiError {
  return new ApiError('AGENT_NOT_FOUND', 'No such agent is registered on this chain.')
}
