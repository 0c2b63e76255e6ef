import type { SigningDomain } from '@bezel/protocol'
import { agentAuthorization, agentRevocation, apiKeyIssue } from '../../packages/server/src/signatures/digests.ts'
import type { Random } from './random.ts'
import { signDigest, type Key } from './signer.ts'

type Fields = Readonly<Record<string, unknown>>

/** The signer of a trader's struct, and the agent it is for. */
export interface MasterSigners {
  readonly trader: Key
  readonly agent: Key
  readonly domain: SigningDomain
}

/** Signs the body as a trader's wallet does. A body that can't be hashed gets a signature of something else. */
export function signMaster(operationId: string, body: Fields, of: MasterSigners, random: Random): Fields {
  const digest = digestOf(operationId, body, of) ?? new Uint8Array(32).fill(1)
  const signed = { ...body, signature: signDigest(of.trader, digest) }
  if (operationId !== 'createAgent') return signed
  const { agentSignature: _dropped, ...rest } = signed as Fields & { agentSignature?: unknown }
  return random.chance(0.7) ? { ...rest, agentSignature: signDigest(of.agent, digest) } : rest
}

function digestOf(operationId: string, body: Fields, { domain, agent }: MasterSigners): Uint8Array | undefined {
  const {
    timestamp,
    label,
    name = null,
    scope,
  } = body as { timestamp: number; label: string; name?: string; scope: object }
  try {
    if (operationId === 'issueApiKey') return apiKeyIssue(domain, { label, timestamp }).digest
    if (operationId === 'revokeAgent') return agentRevocation(domain, { agent: agent.address, timestamp }).digest
    const message = { ...(scope as never as object), agent: agent.address, name, timestamp } as never
    return agentAuthorization(domain, message).digest
  } catch {
    // A value of another type has no encoding.
    return undefined
  }
}
