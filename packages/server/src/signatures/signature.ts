import type { Brand } from '@bezel/protocol'

/** A signature worth recovering from: r and s in range, s in the lower half. Only `parseSignature` makes one. */
export type Signature = Brand<{ readonly rs: Uint8Array; readonly recoveryId: 0 | 1 }, 'Signature'>

// The pattern is what keeps foreign digits out: decoding hex, Buffer cuts U+0130 down to 0x30, a zero.
const SIGNATURE_PATTERN = /^0x[0-9a-fA-F]{130}$/

const NUMBER_BYTES = 32
const R_START = 0
const S_START = 32
const V_START = 64

const ZERO = Buffer.alloc(NUMBER_BYTES)
/** Order n of the curve. */
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex')
/** (n - 1) / 2. A greater s is the other of two signatures that say the same, so a seen one could be changed into a new one. */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')

/** 65 bytes of hex: r, s, v (0, 1, 27 or 28). `undefined` when it can't be a valid signature of anything. */
export function parseSignature(text: string): Signature | undefined {
  if (!SIGNATURE_PATTERN.test(text)) return undefined
  const bytes = Buffer.from(text.slice(2), 'hex')
  const recoveryId = recoveryIdOf(bytes[V_START])
  if (recoveryId === undefined || !isInRange(bytes)) return undefined
  const rs: Uint8Array = bytes.subarray(R_START, V_START)
  return { rs, recoveryId } as Signature
}

function recoveryIdOf(v: number | undefined): 0 | 1 | undefined {
  if (v === 0 || v === 27) return 0
  return v === 1 || v === 28 ? 1 : undefined
}

function isInRange(bytes: Buffer): boolean {
  const isR = compareAt(bytes, R_START, ZERO) > 0 && compareAt(bytes, R_START, ORDER) < 0
  return isR && compareAt(bytes, S_START, ZERO) > 0 && compareAt(bytes, S_START, HALF_ORDER) <= 0
}

/** As `Buffer.compare` of the 32 bytes there, but nearly always done after one of them. */
function compareAt(bytes: Uint8Array, start: number, limit: Uint8Array): number {
  for (let index = 0; index < NUMBER_BYTES; index += 1) {
    const difference = (bytes[start + index] ?? 0) - (limit[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
