import type { Address, Hex } from '@bezel/protocol'
import type { CompactSignature } from './signingEngine.ts'

/** An EIP-1559 transaction without an access list. */
export interface FeeTransaction {
  readonly nonce: number
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
  /** Gas limit, in units of gas. */
  readonly gas: bigint
  /** Wei per unit of gas. */
  readonly maxFeeWei: bigint
  readonly maxPriorityFeeWei: bigint
}

const TYPE_BYTE = 0x02
const SHORT_STRING = 0x80
const LONG_STRING = 0xb7
const SHORT_LIST = 0xc0
const LONG_LIST = 0xf7
/** The longest RLP payload whose length fits into the first byte. */
const MAX_SHORT_BYTES = 55
const WORD_BYTES = 32

const EMPTY_LIST = Buffer.of(SHORT_LIST)

/**
 * Encodes the bytes to sign or, with a signature, the bytes to send. Written for this one shape, because a general
 * serialiser takes ten times as long and every relayed action waits for it.
 */
export function encodeTransaction(chainId: number, of: FeeTransaction, signature?: CompactSignature): Buffer {
  const fields = [
    rlpNumber(BigInt(chainId)),
    rlpNumber(BigInt(of.nonce)),
    rlpNumber(of.maxPriorityFeeWei),
    rlpNumber(of.maxFeeWei),
    rlpNumber(of.gas),
    rlpBytes(bytesOf(of.to)),
    rlpNumber(of.value),
    rlpBytes(bytesOf(of.data)),
    EMPTY_LIST,
    ...(signature === undefined ? [] : signatureFields(signature)),
  ]
  const payload = Buffer.concat(fields)
  return Buffer.concat([Buffer.of(TYPE_BYTE), prefix(payload.length, SHORT_LIST, LONG_LIST), payload])
}

function signatureFields({ rs, recoveryId }: CompactSignature): Buffer[] {
  return [
    rlpNumber(BigInt(recoveryId)),
    rlpBytes(withoutZeros(rs.subarray(0, WORD_BYTES))),
    rlpBytes(withoutZeros(rs.subarray(WORD_BYTES))),
  ]
}

function rlpNumber(value: bigint): Buffer {
  const digits = value.toString(16)
  return value === 0n
    ? Buffer.of(SHORT_STRING)
    : rlpBytes(Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'))
}

function rlpBytes(bytes: Uint8Array): Buffer {
  if (bytes.length === 1 && bytes[0]! < SHORT_STRING) return Buffer.from(bytes)
  return Buffer.concat([prefix(bytes.length, SHORT_STRING, LONG_STRING), bytes])
}

function prefix(length: number, short: number, long: number): Buffer {
  if (length <= MAX_SHORT_BYTES) return Buffer.of(short + length)
  const digits = length.toString(16)
  const size = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.of(long + size.length), size])
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0)
  return first === -1 ? bytes.subarray(bytes.length) : bytes.subarray(first)
}

function bytesOf(hex: `0x${string}`): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
