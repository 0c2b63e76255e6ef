import type { ChainSlug } from '@bezel/protocol/wire'
import type { Signer, SigningDomain } from './signer.ts'
import { signRequest, type RequestProof } from './signRequest.ts'

/** The signed `auth` message of the stream. */
export interface SignedAuthMessage extends RequestProof {
  readonly op: 'auth'
}

/** The `auth` message with a read-only key. */
export interface KeyAuthMessage {
  readonly op: 'auth'
  readonly apiKey: string
}

export type AuthMessage = SignedAuthMessage | KeyAuthMessage

export interface AuthMessageOptions {
  readonly chain: ChainSlug
  readonly agent: Signer
  readonly domain: SigningDomain
  /** Epoch milliseconds. */
  readonly nowMs?: number
}

/** Proves an agent to the stream. Make a new one for each connection: its nonce counts once. */
export async function authMessage({ chain, agent, domain, nowMs }: AuthMessageOptions): Promise<SignedAuthMessage> {
  const proof = await signRequest({
    agent,
    domain,
    operationId: 'wsAuth',
    method: 'WS',
    path: streamPath(chain),
    ...(nowMs === undefined ? {} : { nowMs }),
  })
  return { op: 'auth', ...proof }
}

/** Where the stream of a chain is, behind the base URL. */
export function streamPath(chain: ChainSlug): string {
  return `/v1/${chain}/ws`
}
