import { ADDRESS_PATTERN, parseAddress, type Address, type Hex } from '@bezel/protocol'
import { parseStrictJson, StrictJsonError, type JsonValue } from '../../json/parseStrictJson.ts'
import type { Envelope, EnvelopeSignature, ExchangeAction } from './envelope.ts'
import { MalformedEnvelope } from './malformedEnvelope.ts'
import { refuseUnsignable } from './refuseUnsignable.ts'

type JsonObject = Readonly<Record<string, JsonValue>>

/** Some clients cut the leading zeros of r and s. */
const SIGNATURE_PART = /^0x([0-9a-fA-F]{1,64})$/
const PART_DIGITS = 64

/** The envelope of a request's body. Throws a `MalformedEnvelope`. */
export function parseEnvelope(bytes: Uint8Array): Envelope {
  return readEnvelope(parseBody(bytes))
}

/** The envelope in JSON that `parseStrictJson` has read, as part of a message of the stream. Fields it does not know are ignored. */
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

/** With `0x` or without. */
function readVaultAddress(value: JsonValue | undefined): Address | null {
  if (isAbsent(value)) return null
  const text = typeof value === 'string' ? value : ''
  const address = parseAddress(ADDRESS_PATTERN.test(text) ? text : `0x${text}`)
  if (address === undefined) throw new MalformedEnvelope('vaultAddress must be an address.')
  return address
}

/** Some clients send null for what they leave out. */
function isAbsent(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : undefined
}
