import { keccak256 } from './keccak256.ts'
import type { Signature } from './signature.ts'
import type { SignatureEngine } from './signatureEngine.ts'

const DIGEST_BYTES = 32
/** Of the hash of a public key, the last 20 bytes are the address. */
const ADDRESS_START = 12

/** The 20 bytes of the address whose key signed the digest; `undefined` when no key did. Never throws. */
export function recoverAddress(
  engine: SignatureEngine,
  digest: Uint8Array,
  signature: Signature,
): Uint8Array | undefined {
  if (digest.length !== DIGEST_BYTES) return undefined
  const key = recoverPublicKey(engine, digest, signature)
  // The first byte only says that the key is not compressed.
  return key === undefined ? undefined : keccak256(key.subarray(1)).subarray(ADDRESS_START)
}

function recoverPublicKey(engine: SignatureEngine, digest: Uint8Array, of: Signature): Uint8Array | undefined {
  try {
    return engine.recoverPublicKey(digest, of.rs, of.recoveryId)
  } catch {
    return undefined
  }
}
