import { ApiError, parseAddress, type Address } from '@bezel/protocol'
import type { IncomingHttpHeaders } from 'node:http'

/** What the four headers of a signed request say. */
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
  const address = parseAddress(String(agent))
  const issues = [
    address === undefined && issue(`${prefix}Agent`, 'must be an address'),
    !isTimestamp(String(timestamp)) && issue(`${prefix}Timestamp`, 'must be epoch milliseconds'),
    !UINT_PATTERN.test(String(nonce)) && issue(`${prefix}Nonce`, 'must be a whole number without leading zeros'),
    !SIGNATURE_PATTERN.test(String(signature)) && issue(`${prefix}Signature`, 'must be 65 bytes of hex'),
  ].filter((found) => found !== false)
  if (issues.length > 0 || address === undefined) {
    throw new ApiError('VALIDATION_ERROR', 'The signature headers are malformed.', { issues })
  }
  return { agent: address, timestamp: String(timestamp), nonce: String(nonce), signature: String(signature) }
}

function isTimestamp(text: string): boolean {
  return UINT_PATTERN.test(text) && text.length <= MAX_TIMESTAMP_CHARS && Number.isSafeInteger(Number(text))
}

function issue(header: string, message: string): { path: string; message: string } {
  return { path: `headers.${header}`, message }
}
