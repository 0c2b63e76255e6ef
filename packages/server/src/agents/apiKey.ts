import { createHash, randomBytes } from 'node:crypto'
import { ApiError, parseAddress, type IssueApiKeyRequest, type SigningDomain } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import { apiKeyIssue } from '../signatures/digests.ts'
import type { RegistrationOptions } from './createAgent.ts'
import { requireMasterSignature } from './masterSignature.ts'
import type { Registry } from './registry.ts'

const PREFIX = 'bz_'

const KEY_BYTES = 32

const KEY_PATTERN = /^bz_[A-Za-z0-9_-]{43}$/

/** Returns a new key of 32 random bytes: too many to guess, so a plain hash of it is safe to keep. */
export function createApiKey(): string {
  return PREFIX + randomBytes(KEY_BYTES).toString('base64url')
}

/**
 * Returns the hash that is stored for a key, as hex; `undefined` for text that can't be a key. Keys are looked up by
 * this hash, so the time a lookup takes reveals nothing about a key.
 */
export function hashApiKey(key: string): string | undefined {
  return KEY_PATTERN.test(key) ? createHash('sha256').update(key).digest('hex') : undefined
}

/**
 * Issues a new read-only key, which the caller sees only in this answer. An older key with the same label stops
 * working.
 */
export async function issueApiKey(
  of: { readonly chain: ServedChain; readonly domain: SigningDomain; readonly registry: Registry },
  body: IssueApiKeyRequest,
  options: RegistrationOptions,
): Promise<{ apiKey: string; label: string; trader: string }> {
  const trader = parseAddress(body.trader)
  if (trader === undefined) throw new ApiError('VALIDATION_ERROR', 'trader must be an address.')
  const { label, timestamp: timestampMs, signature } = body
  const signed = apiKeyIssue(of.domain, { label, timestamp: timestampMs })
  await requireMasterSignature({ ...signed, operationId: 'issueApiKey', trader, signature, timestampMs }, options)
  await options.chargeRegistration()
  const apiKey = createApiKey()
  const keyHash = hashApiKey(apiKey)
  if (keyHash === undefined) throw new Error('a fresh key has the wrong form')
  const chain = of.chain.slug
  const { nowMs: createdAtMs, network, origin } = options
  await of.registry.addKey({ chain, trader, label, keyHash, createdAtMs, signedAtMs: timestampMs, network, origin })
  return { apiKey, label, trader }
}
