import { ApiError, parseAddress, type IssueApiKeyRequest, type SigningDomain } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import { apiKeyIssueDigest } from '../signatures/apiKeyIssueDigest.ts'
import { createApiKey, hashApiKey } from './apiKey.ts'
import { requireMasterSignature, type MasterSignatureOptions } from './masterSignature.ts'
import type { Registry } from './registry.ts'

/** A new read-only key; the caller sees it this once. An older key of the same label stops working. */
export async function issueApiKey(
  of: { readonly chain: ServedChain; readonly domain: SigningDomain; readonly registry: Registry },
  body: IssueApiKeyRequest,
  options: MasterSignatureOptions,
): Promise<{ apiKey: string; label: string; trader: string }> {
  const trader = parseAddress(body.trader)
  if (trader === undefined) throw new ApiError('VALIDATION_ERROR', 'trader must be an address.')
  const { label, timestamp: timestampMs, signature } = body
  const digest = apiKeyIssueDigest(of.domain, { label, timestamp: timestampMs })
  await requireMasterSignature({ trader, digest, signature, timestampMs }, options)
  const apiKey = createApiKey()
  const keyHash = hashApiKey(apiKey)
  if (keyHash === undefined) throw new Error('a fresh key has the wrong form')
  const chain = of.chain.slug
  await of.registry.addKey({ chain, trader, label, keyHash, createdAtMs: options.nowMs, signedAtMs: timestampMs })
  return { apiKey, label, trader }
}
