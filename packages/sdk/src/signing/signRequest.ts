import { nextNonce } from './nextNonce.ts'
import { requestTypedData } from './requestTypedData.ts'
import { signTypedData, type Signer, type SigningDomain } from './signer.ts'

export interface SignRequestOptions {
  readonly agent: Signer
  readonly domain: SigningDomain
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly body?: string | undefined
  /** Epoch milliseconds. */
  readonly nowMs?: number
}

/** What proves a request: of headers or of an `auth` message. */
export interface RequestProof {
  readonly agent: `0x${string}`
  readonly timestamp: string
  readonly nonce: string
  readonly signature: `0x${string}`
}

/** Signs one request with a fresh timestamp and nonce. Sign anew for each try: a nonce is used up by a good signature. */
export async function signRequest(options: SignRequestOptions): Promise<RequestProof> {
  const { agent, domain, operationId, method, path, body, nowMs = Date.now() } = options
  const nonce = nextNonce(domain.chainId, agent.address, nowMs)
  const request = { operationId, method, path, body, timestamp: BigInt(nowMs), nonce }
  const signature = await signTypedData(agent, requestTypedData(domain, request))
  return { agent: agent.address, timestamp: String(nowMs), nonce: String(nonce), signature }
}
