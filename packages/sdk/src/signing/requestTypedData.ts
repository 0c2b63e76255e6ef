import { REQUEST_FIELDS } from '@bezel/protocol/wire'
import { bodyHashOf } from './bodyHashOf.ts'
import type { SigningDomain, TypedData } from './signer.ts'

/** A request as it is signed. `path` is what stands in the request line, query included, from `/v1` on. */
export interface RequestToSign {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly body?: string | undefined
  readonly timestamp: bigint
  readonly nonce: bigint
}

/** The struct of a signed request: its primary type is the operation id. */
export function requestTypedData(domain: SigningDomain, request: RequestToSign): TypedData {
  const { operationId, method, path, body, timestamp, nonce } = request
  return {
    domain,
    primaryType: operationId,
    types: { [operationId]: REQUEST_FIELDS },
    message: { method, path, bodyHash: bodyHashOf(body), timestamp, nonce },
  }
}
