import { keccak256 } from './keccak256.ts'
import { recoversTo } from './recoversTo.ts'
import { requestDigest, type RequestStruct } from './requestDigest.ts'
import type { SignatureEngine } from './signatureEngine.ts'

/** A request with what it claims: that the agent signed it. */
export interface SignedRequest extends Omit<RequestStruct, 'bodyHash'> {
  /** As received; no bytes for a request without a body. */
  readonly body: Uint8Array
  /** Hex. */
  readonly signature: string
  /** Address in any case. */
  readonly agent: string
}

/** Whether the agent signed exactly this request for this deployment. Says nothing about its time or nonce. Never throws for a bad request. */
export function verifyRequest(engine: SignatureEngine, request: SignedRequest): boolean {
  const { domain, operationId, method, path, timestamp, nonce, signature, agent: address } = request
  const bodyHash = keccak256(request.body)
  const digest = requestDigest({ domain, operationId, method, path, bodyHash, timestamp, nonce })
  return digest !== undefined && recoversTo(engine, { digest, signature, address })
}
