import { ApiError, parseAddress, type Address } from '@bezel/protocol'
import type { IncomingHttpHeaders } from 'node:http'

/** The four values of a signed request's headers, or of the stream's `auth` message. */
export interface SignatureHeaders {
  readonly agent: Address
  /** Epoch milliseconds in decimal digits, as signed. */
  readonly timestamp: string
  readonly nonce: string
  readonly signature: string
}

/** A uint256 without leading zeros. The hashing checks the upper bound. */
const UINT_PATTERN = /^(?:0|[1-9]\d{0,77})$/

const MAX_TIMESTAMP_CHARS = 16

const SIGNATURE_PATTERN = /^0x[0-9a-fA-F]{130}$/

/** Header names after the deployment's prefix. */
const HEADER_NAMES = { agent: 'Agent', timestamp: 'Timestamp', nonce: 'Nonce', signature: 'Signature' } as const

export interface FieldIssue {
  readonly field: keyof SignatureHeaders
  readonly message: string
}

/** Name, after the prefix, of the header that says whose account the caller means. */
export const TRADER_HEADER = 'Trader'

/** Name, after the prefix, of the header that says which commit an answer includes. */
export const COMMIT_HEADER = 'Commit'

/** Name, after the prefix, of the header by which a client asks for an answer that includes a commit. */
export const AFTER_HEADER = 'After'

/** Lists the names of the headers that carry credentials, and of the one that says whose account is meant. */
export function credentialHeaders(prefix: string): readonly string[] {
  return ['Agent', 'Timestamp', 'Nonce', 'Signature', 'Api-Key', TRADER_HEADER].map((suffix) => prefix + suffix)
}

/**
 * Reads the four signature headers; `undefined` when none is present. Throws when some are missing or one is malformed.
 */
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

/** Reads the API key of a request's headers. */
export function readApiKey(headers: IncomingHttpHeaders, prefix: string): string | undefined {
  const key = headers[`${prefix.toLowerCase()}api-key`]
  return typeof key === 'string' ? key : undefined
}

/**
 * Reads the trader that a request means; `undefined` when it names none. It is not signed: it guards against a mix-up
 * of keys, not against somebody in the middle. Throws `VALIDATION_ERROR` when it is no address.
 */
export function readNamedTrader(headers: IncomingHttpHeaders, prefix: string): Address | undefined {
  const text = headers[prefix.toLowerCase() + TRADER_HEADER.toLowerCase()]
  if (text === undefined) return undefined
  const trader = parseAddress(String(text))
  if (trader !== undefined) return trader
  const issues = [{ path: `headers.${prefix}${TRADER_HEADER}`, message: 'must be an address' }]
  throw new ApiError('VALIDATION_ERROR', 'The header that names the trader is malformed.', { issues })
}

/** Parses the four values of a signature, or returns the issues with them. */
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
