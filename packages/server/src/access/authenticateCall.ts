import { ApiError, REQUEST_FIELDS, type Address, type ChainSlug, type SigningDomain } from '@bezel/protocol'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { hashApiKey } from '../agents/apiKey.ts'
import { timestampOutOfWindow } from '../agents/masterSignature.ts'
import { inSpan } from '../ground/spans.ts'
import type { Registry } from '../agents/registry.ts'
import type { Admission, OnCharge } from './admission.ts'
import type { LimitBucket, Limits } from './limits.ts'
import { REPLAY_WINDOW_MS } from './nonceMemory.ts'
import type { StoredNonces } from './nonces.ts'
import type { SignatureEngine } from '../signatures/recovery.ts'
import { invalidSignature } from '../signatures/invalidSignature.ts'
import { structType } from '../signatures/typedData.ts'
import { verifyRequest, type SignedOperation } from '../signatures/verifyRequest.ts'
import type { Caller } from './caller.ts'
import type { SignatureHeaders } from './signatureHeaders.ts'
import type { ChainAgents } from '../agents/chainAgents.ts'

export interface PrivateContext {
  /** Throws `CHAIN_NOT_FOUND`. */
  readonly agentsOf: (slug: string) => ChainAgents
  readonly authenticate: AuthenticateOptions
  readonly now: () => number
}

/** The parts that authentication works with. */
export interface AuthenticateOptions {
  readonly registry: Registry
  readonly engine: SignatureEngine
  readonly limits: Limits
  readonly agentLimit: number
  /** Charges signed requests, and uses up their nonces. */
  readonly admission: Admission
  /** Uses up nonces of writes in the store. */
  readonly nonces: StoredNonces
  readonly headerPrefix: string
  readonly domainOf: (chain: ChainSlug) => SigningDomain
  readonly now: () => number
}

/** The signed content besides timestamp and nonce: a request, or the handshake of the stream. */
export interface SignedCall {
  readonly chain: ChainSlug
  readonly operation: SignedOperation
  /** HTTP method in upper case; `WS` for the handshake. */
  readonly method: string
  readonly path: string
  readonly body: Uint8Array
  /** Weight that the agent's limit is charged. Default 1. */
  readonly weight?: number
  /** True for a write, which uses up its nonce in its own transaction as well. Default false. */
  readonly isWrite?: boolean
}

/**
 * Returns the agent that signed a call. The cheapest checks come first, and nothing is charged to an agent or claimed
 * for it before its signature is verified, so that a stranger can use up neither its limit nor its nonces.
 */
export async function authenticateAgent(
  call: SignedCall,
  signed: SignatureHeaders,
  options: AuthenticateOptions,
  onCharge: OnCharge,
  furtherBuckets: readonly LimitBucket[] = [],
): Promise<AgentRecord> {
  requireRecent(signed, options.now())
  const found = options.registry.findAgent(call.chain, signed.agent)
  // An agent that is in memory is used at once: awaiting what is there would slow every request down.
  const agent = found instanceof Promise ? await found : found
  if (agent === undefined) throw agentUnknown(call.chain, signed)
  await acceptSignature(call, signed, options, onCharge, furtherBuckets)
  return agent
}

/**
 * Returns the wallet that signed a call for itself, as its own agent. It needs no registration, so only operations of
 * the master wallet may take it.
 */
export async function authenticateWallet(
  call: SignedCall,
  signed: SignatureHeaders,
  options: AuthenticateOptions,
  onCharge: OnCharge,
): Promise<Address> {
  requireRecent(signed, options.now())
  await acceptSignature(call, signed, options, onCharge, [])
  return signed.agent
}

/** Verifies the signature, then charges the signer and claims its nonce. */
async function acceptSignature(
  call: SignedCall,
  signed: SignatureHeaders,
  options: AuthenticateOptions,
  onCharge: OnCharge,
  furtherBuckets: readonly LimitBucket[],
): Promise<void> {
  const { chain, weight, isWrite = false } = call
  const { agent, nonce, timestamp } = signed
  inSpan('verify', { 'bezel.chain': chain, 'bezel.engine': options.engine.name }, () =>
    requireSignature(call, signed, options),
  )
  const buckets = [agentBucket(`${chain} ${agent}`, options), ...furtherBuckets]
  const request = { chain, agent, nonce, timestampMs: Number(timestamp), buckets, weight, isWrite }
  await options.admission.admit(request, onCharge)
}

/** Returns the trader that an API key belongs to, and charges the key's own limit. */
export async function authenticateKey(
  chain: ChainSlug,
  key: string,
  options: AuthenticateOptions,
  onCharge: OnCharge,
  weight?: number,
): Promise<Caller> {
  const keyHash = hashApiKey(key)
  const found = keyHash === undefined ? undefined : options.registry.keyOwner(chain, keyHash)
  const trader = found instanceof Promise ? await found : found
  if (keyHash === undefined || trader === undefined) throw apiKeyUnknown()
  onCharge(await options.limits.take([agentBucket(`${chain} ${keyHash}`, options)], options.now(), weight))
  return { via: 'apiKey', trader, keyHash }
}

export function apiKeyUnknown(): ApiError {
  return new ApiError('API_KEY_UNKNOWN', 'This API key is not registered on this chain.')
}

function requireRecent({ timestamp }: SignatureHeaders, nowMs: number): void {
  if (Math.abs(nowMs - Number(timestamp)) <= REPLAY_WINDOW_MS) return
  throw timestampOutOfWindow(Number(timestamp), nowMs)
}

function agentUnknown(chain: ChainSlug, { agent }: Pick<SignatureHeaders, 'agent'>): ApiError {
  return new ApiError('AGENT_UNKNOWN', `The agent ${agent} is not registered on ${chain}.`, { agent })
}

function requireSignature(
  { chain, operation, method, path, body }: SignedCall,
  { agent, timestamp, nonce, signature }: SignatureHeaders,
  { domainOf, engine }: AuthenticateOptions,
): void {
  const domain = domainOf(chain)
  const struct = { domain, operationId: operation, method, path, timestamp, nonce }
  const { isValid, signer, digest, bodyHash } = verifyRequest(engine, { ...struct, body, signature, agent })
  if (isValid) return
  throw invalidSignature(
    { type: structType(operation, REQUEST_FIELDS), domain, digest, signer, address: agent },
    { operationId: operation, path, bodyHash },
    { method, timestamp, nonce },
  )
}

function agentBucket(key: string, { agentLimit }: AuthenticateOptions): LimitBucket {
  return { scope: 'agent', key, limit: agentLimit }
}
