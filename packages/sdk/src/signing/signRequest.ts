import { requestTypedData, signTypedData, type Signer } from './typedData.ts'
import type { ChainSlug, SigningDomain } from '@bezel/protocol/wire'

/** Options of `signRequest`. */
export interface SignRequestOptions {
  /** Signer of the request. */
  readonly agent: Signer
  /** Domain of the deployment. */
  readonly domain: SigningDomain
  /** Operation id of the endpoint, for instance `createOrder`. */
  readonly operationId: string
  /** HTTP method in upper case. */
  readonly method: string
  /** Path with its query, as it is sent, from `/v1` on. */
  readonly path: string
  /** Body exactly as it is sent. Default: none. */
  readonly body?: string | undefined
  /** Time of the signature in epoch milliseconds. Default `Date.now()`. */
  readonly nowMs?: number
}

/** The proof of a request, sent in headers or in an `auth` message. */
export interface RequestProof {
  /** Address of the agent. */
  readonly agent: `0x${string}`
  /** Time of the signature in epoch milliseconds, in digits. */
  readonly timestamp: string
  /** Nonce of the signature, in digits. */
  readonly nonce: string
  /** Signature of 65 bytes. */
  readonly signature: `0x${string}`
}

/** The last nonce of each chain and signer, for all clients of this process: no two of them may use the same nonce. */
const lastNonces = new Map<string, bigint>()

/** Nonces per millisecond, so that even a thousand signatures within one millisecond follow the clock. */
const NONCES_PER_MS = 1_000n

/**
 * Signs one request with a fresh timestamp and nonce. Sign again for each attempt, because an accepted signature uses
 * up its nonce.
 */
export async function signRequest(options: SignRequestOptions): Promise<RequestProof> {
  const { agent, domain, operationId, method, path, body, nowMs = Date.now() } = options
  const nonce = nextNonce(domain.chainId, agent.address, nowMs)
  const request = { operationId, method, path, body, timestamp: BigInt(nowMs), nonce }
  const signature = await signTypedData(agent, requestTypedData(domain, request))
  return { agent: agent.address, timestamp: String(nowMs), nonce: String(nonce), signature }
}

/**
 * Returns the next nonce: strictly increasing per chain and signer, and never behind the clock, so that a restarted
 * process continues from the clock. `random` is in [0, 1): another process may sign for the same agent in the same
 * millisecond.
 */
export function nextNonce(chainId: number, signer: string, nowMs: number, random = Math.random()): bigint {
  const key = `${chainId}:${signer.toLowerCase()}`
  const byClock = BigInt(nowMs) * NONCES_PER_MS + BigInt(Math.floor(random * Number(NONCES_PER_MS)))
  const last = lastNonces.get(key)
  const nonce = last === undefined || last < byClock ? byClock : last + 1n
  lastNonces.set(key, nonce)
  return nonce
}

/** The signed `auth` message of the stream. */
export interface SignedAuthMessage extends RequestProof {
  /** Kind of the message. */
  readonly op: 'auth'
  /** Trader whose account is meant. Credentials of another one are refused. */
  readonly trader?: string
}

/** The `auth` message with a read-only key. */
export interface KeyAuthMessage {
  /** Kind of the message. */
  readonly op: 'auth'
  /** Read-only key of the trader. */
  readonly apiKey: string
  /** Trader whose account is meant. A key of another one is refused. */
  readonly trader?: string
}

/** The `auth` message of the stream. */
export type AuthMessage = SignedAuthMessage | KeyAuthMessage

/** Options of `authMessage`. */
export interface AuthMessageOptions {
  /** Chain of the stream. */
  readonly chain: ChainSlug
  /** Signer of the message. */
  readonly agent: Signer
  /** Domain of the deployment. */
  readonly domain: SigningDomain
  /** Trader whose account is meant, if it is known. */
  readonly trader?: string | undefined
  /** Time of the signature in epoch milliseconds. Default `Date.now()`. */
  readonly nowMs?: number
}

/**
 * Creates the `auth` message that proves an agent to the stream. Create one for each connection, because its nonce is
 * accepted once.
 */
export async function authMessage(options: AuthMessageOptions): Promise<SignedAuthMessage> {
  const { chain, agent, domain, trader, nowMs } = options
  const proof = await signRequest({
    agent,
    domain,
    operationId: 'wsAuth',
    method: 'WS',
    path: streamPath(chain),
    ...(nowMs === undefined ? {} : { nowMs }),
  })
  return { op: 'auth', ...proof, ...(trader === undefined ? {} : { trader }) }
}

/** Returns the path of a chain's stream, relative to the base URL. */
export function streamPath(chain: ChainSlug): string {
  return `/v1/${chain}/ws`
}
