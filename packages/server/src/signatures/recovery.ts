import { addressBytes, keccak256 } from './typedData.ts'
import type { Brand } from '@bezel/protocol'

/** The engines, fastest first: libsecp256k1 as native code, the same as WebAssembly, and plain JavaScript. */
export const ENGINE_NAMES = ['native', 'wasm', 'js'] as const

export type EngineName = (typeof ENGINE_NAMES)[number]

/** One implementation of public key recovery. All of them give the same answer to the same input. */
export interface SignatureEngine {
  readonly name: EngineName
  /**
   * Returns the 65 bytes of an uncompressed public key; `undefined`, or a throw, when there is none. `digest` must have
   * 32 bytes and `rs` 64. `recoverAddress` ensures that, because the engines treat other lengths differently.
   */
  readonly recoverPublicKey: (digest: Uint8Array, rs: Uint8Array, recoveryId: 0 | 1) => Uint8Array | undefined
}

/** A signature with r and s in range and s in the lower half. Only `parseSignature` makes one. */
export type Signature = Brand<{ readonly rs: Uint8Array; readonly recoveryId: 0 | 1 }, 'Signature'>

// The pattern also keeps foreign digits out: when Buffer decodes hex, it truncates U+0130 to 0x30, the digit zero.
const SIGNATURE_PATTERN = /^0x[0-9a-fA-F]{130}$/

const NUMBER_BYTES = 32

const R_START = 0

const S_START = 32

const V_START = 64

const ZERO = Buffer.alloc(NUMBER_BYTES)

/** Order n of the curve secp256k1. */
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex')

/**
 * (n - 1) / 2, the greatest valid s. Every signature has a twin with the other s, so without this bound an observed
 * signature could be turned into a second valid one.
 */
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')

const DIGEST_BYTES = 32

/** Offset of the address, the last 20 bytes, in the hash of a public key. */
const ADDRESS_START = 12

/** A signature that was compared with the address that claims it. */
export interface CheckedSignature {
  /** True when the key of the claimed address made the signature. */
  readonly isValid: boolean
  /** The 20 bytes of the address whose key made it; `undefined` when there is none. */
  readonly signer: Uint8Array | undefined
}

/** Recovers the signer of a hex signature and compares it with the address. Malformed input has no signer. */
export function checkSignature(
  engine: SignatureEngine,
  of: { readonly digest: Uint8Array | undefined; readonly signature: string; readonly address: string },
): CheckedSignature {
  const signature = parseSignature(of.signature)
  const expected = addressBytes(of.address)
  if (signature === undefined || expected === undefined || of.digest === undefined) return NO_SIGNER
  const signer = recoverAddress(engine, of.digest, signature)
  return { isValid: signer !== undefined && Buffer.compare(signer, expected) === 0, signer }
}

const NO_SIGNER: CheckedSignature = { isValid: false, signer: undefined }

/** Returns the 20 bytes of the address whose key signed the digest; `undefined` when there is none. Never throws. */
export function recoverAddress(
  engine: SignatureEngine,
  digest: Uint8Array,
  signature: Signature,
): Uint8Array | undefined {
  if (digest.length !== DIGEST_BYTES) return undefined
  const key = recoverPublicKey(engine, digest, signature)
  // The first byte only marks the key as uncompressed.
  return key === undefined ? undefined : keccak256(key.subarray(1)).subarray(ADDRESS_START)
}

function recoverPublicKey(engine: SignatureEngine, digest: Uint8Array, of: Signature): Uint8Array | undefined {
  try {
    return engine.recoverPublicKey(digest, of.rs, of.recoveryId)
  } catch {
    return undefined
  }
}

/**
 * Parses 65 bytes of hex: r, s, v (0, 1, 27 or 28). `undefined` when the text can't be a valid signature of anything.
 */
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

/** Compares like `Buffer.compare` on 32 bytes, but faster, as the first byte nearly always decides. */
function compareAt(bytes: Uint8Array, start: number, limit: Uint8Array): number {
  for (let index = 0; index < NUMBER_BYTES; index += 1) {
    const difference = (bytes[start + index] ?? 0) - (limit[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
