import { keccak256, typedDataDigest, typeHash, stringWord, uint256Word } from './typedData.ts'
import { checkSignature, type CheckedSignature, type SignatureEngine } from './recovery.ts'
import { REQUEST_FIELDS, type SigningDomain } from '@bezel/protocol'

/**
 * Operations that an agent signs. Each name is the primary type of the request's struct; `wsAuth` is the handshake of
 * the stream.
 */
export const SIGNED_OPERATIONS = [
  'getAccount',
  'listPositions',
  'listOpenOrders',
  'listOrderHistory',
  'listFills',
  'listEvents',
  'listAudit',
  'previewOrder',
  'previewClose',
  'previewPosition',
  'getOrder',
  'getOrderByClientId',
  'createOrder',
  'updateOrder',
  'cancelOrder',
  'cancelAllOrders',
  'submitOrder',
  'getPosition',
  'closePosition',
  'updatePosition',
  'cancelPositionUpdate',
  'closeAllPositions',
  'flatten',
  'dismissNotification',
  'listApiKeys',
  'revokeApiKey',
  'wsAuth',
] as const

export type SignedOperation = (typeof SIGNED_OPERATIONS)[number]

/** The parts of a request that its signature covers. */
export interface RequestStruct {
  readonly domain: SigningDomain
  readonly operationId: SignedOperation
  /** HTTP method in upper case; `WS` for the handshake of the stream. */
  readonly method: string
  /** Path with the query string, exactly as sent. */
  readonly path: string
  /** Keccak-256 hash of the body as received, 32 bytes. */
  readonly bodyHash: Uint8Array
  /** Time in epoch ms, as decimal digits. */
  readonly timestamp: string
  /** Nonce as decimal digits. */
  readonly nonce: string
}

const TYPE_HASHES = new Map(SIGNED_OPERATIONS.map((id) => [id, typeHash(id, REQUEST_FIELDS)]))

const METHOD_WORDS = new Map(['GET', 'POST', 'PATCH', 'DELETE', 'WS'].map((method) => [method, stringWord(method)]))

/** A request together with the signature and the agent that claims to have signed it. */
export interface SignedRequest extends Omit<RequestStruct, 'bodyHash'> {
  /** Body as received; empty for a request without a body. */
  readonly body: Uint8Array
  /** Signature in hex. */
  readonly signature: string
  /** Address of the agent, in any letter case. */
  readonly agent: string
}

/** The signature of a request, with the hashes that it was checked against. */
interface CheckedRequest extends CheckedSignature {
  readonly bodyHash: Uint8Array
  readonly digest: Uint8Array | undefined
}

/**
 * Checks that the agent signed exactly this request for this deployment. Does not check its time or nonce. Never throws
 * for a bad request.
 */
export function verifyRequest(engine: SignatureEngine, request: SignedRequest): CheckedRequest {
  const { domain, operationId, method, path, timestamp, nonce, signature, agent: address } = request
  const bodyHash = keccak256(request.body)
  const digest = requestDigest({ domain, operationId, method, path, bodyHash, timestamp, nonce })
  const { isValid, signer } = checkSignature(engine, { digest, signature, address })
  return { isValid, signer, bodyHash, digest }
}

/**
 * Returns the digest that an agent signs for a request; `undefined` when a value can't be encoded, so that no signature
 * can be valid.
 */
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
