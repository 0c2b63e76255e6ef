import { ApiError, type ChainSlug, type SigningDomain } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { AgentRecord } from '../../agents/agentRecord.ts'
import { hashApiKey } from '../../agents/apiKey.ts'
import type { Registry } from '../../agents/registry.ts'
import type { LimitBucket, Limits } from '../../cluster/limits.ts'
import { REPLAY_WINDOW_MS, type Nonces } from '../../cluster/nonces.ts'
import { nonceReused, type SignedWrite } from '../../orders/signedWrite.ts'
import type { SignatureEngine } from '../../signatures/signatureEngine.ts'
import type { SignedOperation } from '../../signatures/signedOperations.ts'
import { verifyRequest } from '../../signatures/verifyRequest.ts'
import { setCaller } from '../caller.ts'
import { rawBody } from '../rawBody.ts'
import { recordLimitAnswer } from './limitAnswers.ts'
import { readSignatureHeaders, type SignatureHeaders } from './signatureHeaders.ts'

/** What certainty about a caller needs. */
export interface AuthenticateOptions {
  readonly registry: Registry
  readonly engine: SignatureEngine
  readonly limits: Limits
  readonly agentLimit: number
  readonly nonces: Nonces
  readonly headerPrefix: string
  readonly domainOf: (chain: ChainSlug) => SigningDomain
  readonly now: () => number
}

/** The operation a request is for. */
export interface Access {
  readonly chain: ChainSlug
  readonly operation: SignedOperation
}

/** Who sends a private read: an agent by its signature, or a trader by an API key. */
export async function authenticateRead(
  request: FastifyRequest,
  access: Access,
  options: AuthenticateOptions,
): Promise<void> {
  const headers = readSignatureHeaders(request.headers, options.headerPrefix)
  if (headers === undefined) return authenticateByKey(request, access.chain, options)
  const agent = await authenticateAgent(request, access, headers, options, [])
  setCaller(request, { via: 'agent', trader: agent.trader, agent })
}

/** Who sends a write: an agent, always by its signature. Writes have a limit of their own, beside the agent's. */
export async function authenticateWrite(
  request: FastifyRequest,
  access: Access,
  options: AuthenticateOptions,
  writesLimit: number,
): Promise<SignedWrite> {
  const headers = readSignatureHeaders(request.headers, options.headerPrefix)
  if (headers === undefined) {
    throw new ApiError('UNAUTHENTICATED', 'A write is signed by an agent; an API key can only read.')
  }
  const writes = { scope: 'agent-writes', key: `${access.chain} ${headers.agent}`, limit: writesLimit } as const
  const agent = await authenticateAgent(request, access, headers, options, [writes])
  setCaller(request, { via: 'agent', trader: agent.trader, agent })
  return { agent, nonce: headers.nonce, timestampMs: Number(headers.timestamp) }
}

/**
 * Cheapest checks first, and nothing of an agent is charged or claimed before its signature is good, so that a stranger can use up
 * neither its limit nor its nonces.
 */
async function authenticateAgent(
  request: FastifyRequest,
  { chain, operation }: Access,
  headers: SignatureHeaders,
  options: AuthenticateOptions,
  furtherBuckets: readonly LimitBucket[],
): Promise<AgentRecord> {
  requireRecent(headers, options.now())
  const agent = requireAgent(options.registry, chain, headers)
  requireSignature(request, operation, headers, options.domainOf(chain), options.engine)
  await chargeAgent(request, `${chain} ${agent.agent}`, options, furtherBuckets)
  if (!options.nonces.claim(chain, agent.agent, headers.nonce, Number(headers.timestamp))) throw nonceReused()
  return agent
}

async function authenticateByKey(
  request: FastifyRequest,
  chain: ChainSlug,
  options: AuthenticateOptions,
): Promise<void> {
  const { headerPrefix, registry } = options
  const key = request.headers[`${headerPrefix.toLowerCase()}api-key`]
  if (typeof key !== 'string') {
    throw new ApiError('UNAUTHENTICATED', `Sign the request, or send a read-only key as ${headerPrefix}Api-Key.`)
  }
  const keyHash = hashApiKey(key)
  const trader = keyHash === undefined ? undefined : registry.keyOwner(chain, keyHash)
  if (keyHash === undefined || trader === undefined) {
    throw new ApiError('API_KEY_UNKNOWN', 'This API key is not registered on this chain.')
  }
  await chargeAgent(request, `${chain} ${keyHash}`, options)
  setCaller(request, { via: 'apiKey', trader })
}

function requireRecent({ timestamp }: SignatureHeaders, nowMs: number): void {
  if (Math.abs(nowMs - Number(timestamp)) <= REPLAY_WINDOW_MS) return
  throw new ApiError('TIMESTAMP_OUT_OF_WINDOW', 'The timestamp is more than 30 s from server time.', {
    serverTime: nowMs,
  })
}

function requireAgent(registry: Registry, chain: ChainSlug, { agent }: SignatureHeaders): AgentRecord {
  const record = registry.agent(chain, agent)
  if (record === undefined) throw new ApiError('AGENT_UNKNOWN', 'This agent is not registered on this chain.')
  return record
}

function requireSignature(
  request: FastifyRequest,
  operationId: SignedOperation,
  { agent, timestamp, nonce, signature }: SignatureHeaders,
  domain: SigningDomain,
  engine: SignatureEngine,
): void {
  const { method, url: path } = request.raw
  const signed = { domain, operationId, method: method ?? '', path: path ?? '', timestamp, nonce, signature, agent }
  if (verifyRequest(engine, { ...signed, body: rawBody(request) })) return
  throw new ApiError(
    'INVALID_SIGNATURE',
    'The signature does not recover to the agent header over this method, path, body, timestamp and nonce.',
  )
}

async function chargeAgent(
  request: FastifyRequest,
  key: string,
  options: AuthenticateOptions,
  furtherBuckets: readonly LimitBucket[] = [],
): Promise<void> {
  const bucket = { scope: 'agent', key, limit: options.agentLimit } as const
  recordLimitAnswer(request, await options.limits.take([bucket, ...furtherBuckets], options.now()))
}
