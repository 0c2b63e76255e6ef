import { REQUEST_FIELDS, type SigningDomain } from '@bezel/protocol'
import { SIGNED_OPERATIONS, type SignedOperation } from './signedOperations.ts'
import { typedDataDigest } from './typedDataDigest.ts'
import { stringWord, uint256Word } from './typedDataWord.ts'
import { typeHash } from './typeHash.ts'

/** A request as its signature binds it. */
export interface RequestStruct {
  readonly domain: SigningDomain
  readonly operationId: SignedOperation
  /** Upper case; `WS` for the handshake of the stream. */
  readonly method: string
  /** With its query string, exactly as sent. */
  readonly path: string
  /** 32 bytes: keccak256 of the body as received. */
  readonly bodyHash: Uint8Array
  /** Decimal digits. */
  readonly timestamp: string
  /** Decimal digits. */
  readonly nonce: string
}

const TYPE_HASHES = new Map(SIGNED_OPERATIONS.map((id) => [id, typeHash(id, REQUEST_FIELDS)]))
const METHOD_WORDS = new Map(['GET', 'POST', 'PATCH', 'DELETE', 'WS'].map((method) => [method, stringWord(method)]))

/** What an agent signs for a request; `undefined` when no signature can be valid, because a value can't be encoded. */
export function requestDigest(request: RequestStruct): Uint8Array | undefined {
  const hash = TYPE_HASHES.get(request.operationId)
  if (hash === undefined) return undefined
  return typedDataDigest(request.domain, hash, [
    METHOD_WORDS.get(request.method) ?? stringWord(request.method),
    stringWord(request.path),
    request.bodyHash,
    uint256Word(request.timestamp),
    uint256Word(request.nonce),
  ])
}
