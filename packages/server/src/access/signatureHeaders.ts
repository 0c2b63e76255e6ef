import { ApiError, parseAddress, type Address } from '@bezel/protocol'
import type { IncomingHttpHeaders } from 'node:http'

/** What the four headers of a signed request, or the `auth` message of the stream, say. */
export interface SignatureHeaders {
  readonly agent: Address
  /** Decimal, as signed. */
  readonly timestamp: string
  readonly nonce: string
  readonly signature: string
}

/** A uint256 without leading zeros; its size is left to the digest. */
const UINT_PATTERN = /^(?:0|[1-9]\d{0,77})$/
const MAX_TIMESTAMP_CHARS = 16
const SIGNATURE_PATTERN = /^0x[0-9a-fA-F]{130}$/

/** Behind the prefix. */
const HEADER_NAMES = { agent: 'Agent', timestamp: 'Timestamp', nonce: 'Nonce', signature: 'Signature' } as const

export interface FieldIssue {
  readonly field: keyof SignatureHeaders
  readonly message: string
}

/** All four headers, `undefined` when none is there. Throws when some are missing or one is malformed. */
export function readSignatureHeaders(headers: IncomingHttpHeaders, prefix: string): SignatureHeaders | undefined {
  const name = prefix.toLowerCase()
  const agent = headers[`${name}agent`]
  const timestamp = headers[`${name}timestamp`]
  const nonce = headers[`${name}nonce`]
  const signature = headers[`${name}signature`]
  const given = [agent, timestamp, nonce, signature]
  if (given.every((value) => value === undefined)) return undefined
  if (given.includes(undefined)) {
    throw new ApiError(
      'UNAUTHENTICATED',
      `A signed request has all of ${prefix}Agent, -Timestamp, -Nonce and -Signature.`,
    )
  }
  const parsed = parseSignatureFields(String(agent), String(timestamp), String(nonce), String(signature))
  if ('agent' in parsed) return parsed
  const issues = parsed.map(({ field, message }) => ({ path: `headers.${prefix}${HEADER_NAMES[field]}`, message }))
  throw new ApiError('VALIDATION_ERROR', 'The signature headers are malformed.', { issues })
}

/** The key that a request carries in its header. */
export function readApiKey(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  const key = headers[`${prefix.toLowerCase()}api-key`]
  return typeof key === 'string' ? key : undefined
}

/** The four values, wherever they came from; else what is wrong with them. */
export function parseSignatureFields(
  agent: string,
  timestamp: string,
  nonce: string,
  signature: string,
): SignatureHeaders | readonly FieldIssue[] {
  const address = parseAddress(agent)
  const issues = [
    address === undefined && issue('agent', 'must be an address'),
    !isTimestamp(timestamp) && issue('timestamp', 'must be epoch milliseconds'),
    !UINT_PATTERN.test(nonce) && issue('nonce', 'must be a whole number without leading zeros'),
    !SIGNATURE_PATTERN.test(signature) && issue('signature', 'must be 65 bytes of hex'),
  ].filter((found) => found !== false)
  return issues.length > 0 || address === undefined ? issues : { agent: address, timestamp, nonce, signature }
}

function isTimestamp(text: string): boolean {
  return UINT_PATTERN.test(text) && text.length <= MAX_TIMESTAMP_CHARS && Number.isSafeInteger(Number(text))
}

function issue(field: keyof SignatureHeaders, message: string): FieldIssue {
  return { field, message }
}
