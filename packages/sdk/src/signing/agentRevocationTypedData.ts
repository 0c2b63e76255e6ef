import { AGENT_REVOCATION_FIELDS } from '@bezel/protocol/wire'
import type { SigningDomain, TypedData } from './signer.ts'

/** What a trader signs to revoke an agent. */
export function agentRevocationTypedData(
  domain: SigningDomain,
  { agent, timestamp }: { readonly agent: `0x${string}`; readonly timestamp: number },
): TypedData {
  return {
    domain,
    primaryType: 'AgentRevocation',
    types: { AgentRevocation: AGENT_REVOCATION_FIELDS },
    message: { agent, timestamp: BigInt(timestamp) },
  }
}
