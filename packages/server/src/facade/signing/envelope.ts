import { type Address, type Hex, ADDRESS_PATTERN, parseAddress } from '@bezel/protocol'
import { type JsonValue, stepText, parseStrictJson, StrictJsonError } from '../../json/parseStrictJson.ts'

/**
 * The action of an envelope as it was sent. Its keys are in the order that the signature covers, and every number is a
 * safe integer.
 */
export interface ExchangeAction {
  readonly type: string
  readonly [key: string]: JsonValue
}

/** A signature with both parts padded to full length. Recovery checks that they are in the range of the curve. */
export interface EnvelopeSignature {
  /** 32 bytes. */
  readonly r: Hex
  /** 32 bytes. */
  readonly s: Hex
  readonly v: 27 | 28
}

/**
 * A request to the exchange side of the facade. The signature names no signer: the address it recovers to is the
 * sender.
 */
export interface Envelope {
  readonly action: ExchangeAction
  /** The time of the request, epoch ms. */
  readonly nonce: number
  readonly signature: EnvelopeSignature
  readonly vaultAddress: Address | null
  /** The expiry, epoch ms. 0 is a time like any other: long past, and part of the signed data. */
  readonly expiresAfter: number | null
}

type JsonObject = Readonly<Record<string, JsonValue>>

/** One part of a signature. Some clients cut the leading zeros of r and s. */
const SIGNATURE_PART = /^0x([0-9a-fA-F]{1,64})$/
const PART_DIGITS = 64

/** Parses the body of a request. Throws a `MalformedEnvelope`. */
export function parseEnvelope(bytes: Uint8Array): Envelope {
  return readEnvelope(parseBody(bytes))
}

/**
 * Reads an envelope from JSON that `parseStrictJson` has parsed, such as part of a stream message. Ignores unknown
 * fields.
 */
export function readEnvelope(value: JsonValue): Envelope {
  const envelope = objectOf(value)
  if (envelope === undefined) throw new MalformedEnvelope('the envelope must be an object.')
  return {
    action: readAction(envelope.action),
    nonce: readTime(envelope.nonce, 'nonce'),
    signature: readSignature(envelope.signature),
    vaultAddress: readVaultAddress(envelope.vaultAddress),
    expiresAfter: isAbsent(envelope.expiresAfter) ? null : readTime(envelope.expiresAfter, 'expiresAfter'),
  }
}

function parseBody(bytes: Uint8Array): JsonValue {
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    if (error instanceof StrictJsonError) throw new MalformedEnvelope(error.message)
    throw error
  }
}

function readAction(value: JsonValue | undefined): ExchangeAction {
  const action = objectOf(value)
  if (action === undefined) throw new MalformedEnvelope('action must be an object.')
  if (typeof action.type !== 'string') throw new MalformedEnvelope('action.type must be a string.')
  refuseUnsignable(action, 'action')
  return action as ExchangeAction
}

/**
 * Keys that look like array indices. JavaScript objects list them first, which loses the order they were sent in and
 * with it the hash.
 */
const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/

/**
 * Throws for values that two programs hash differently: fractions, which no action has (amounts are strings); whole
 * numbers that a double can't hold exactly; keys that look like array indices. The parser has bounded the depth
 * already.
 */
function refuseUnsignable(value: JsonValue, path: string): void {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new MalformedEnvelope(`${path} must be a whole number within +-(2^53 - 1).`)
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseUnsignable(item, path + stepText(index))
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      if (ARRAY_INDEX.test(key)) throw new MalformedEnvelope(`${path} has a key that is a number.`)
      refuseUnsignable(item, path + stepText(key))
    }
  }
}

function readTime(value: JsonValue | undefined, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new MalformedEnvelope(`${name} must be a whole number of milliseconds.`)
}

function readSignature(value: JsonValue | undefined): EnvelopeSignature {
  const signature = objectOf(value)
  if (signature === undefined) throw new MalformedEnvelope('signature must be an object with r, s and v.')
  return { r: readPart(signature.r, 'r'), s: readPart(signature.s, 's'), v: readV(signature.v) }
}

function readPart(value: JsonValue | undefined, name: string): Hex {
  const digits = typeof value === 'string' ? SIGNATURE_PART.exec(value)?.[1] : undefined
  if (digits === undefined) throw new MalformedEnvelope(`signature.${name} must be 0x and up to 64 hex digits.`)
  return `0x${digits.padStart(PART_DIGITS, '0')}` as Hex
}

function readV(value: JsonValue | undefined): 27 | 28 {
  if (value === 0 || value === 27) return 27
  if (value === 1 || value === 28) return 28
  throw new MalformedEnvelope('signature.v must be 0, 1, 27 or 28.')
}

/** Reads an address, with or without `0x`. */
function readVaultAddress(value: JsonValue | undefined): Address | null {
  if (isAbsent(value)) return null
  const text = typeof value === 'string' ? value : ''
  const address = parseAddress(ADDRESS_PATTERN.test(text) ? text : `0x${text}`)
  if (address === undefined) throw new MalformedEnvelope('vaultAddress must be an address.')
  return address
}

/** True for undefined and for null, which some clients send for fields they leave out. */
export function isAbsent(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined
}

/** The beginning that clients match; the exact fault follows it. */
const PREFIX = 'Failed to deserialize the JSON body into the target type'

/** The refusal of a body that is not an envelope. Answered with status 422 and the message as plain text. */
export class MalformedEnvelope extends Error {
  override readonly name = 'MalformedEnvelope'

  constructor(fault: string) {
    super(`${PREFIX}: ${fault}`)
  }
}
