import { createRequire } from 'node:module'

/**
 * An implementation of signing. All return the same bytes for the same input, because the signature's nonce follows
 * from key and digest (RFC 6979).
 */
export interface SigningEngine {
  readonly name: 'native' | 'js'
  /** Returns the 65 bytes of the uncompressed public key. Throws when the 32 bytes are not a valid private key. */
  readonly publicKeyOf: (key: Uint8Array) => Uint8Array
  /** Signs a digest, with s in the lower half, as chains demand. */
  readonly sign: (digest: Uint8Array, key: Uint8Array) => CompactSignature
}

export interface CompactSignature {
  /** The values r and s, 32 bytes each. */
  readonly rs: Uint8Array
  readonly recoveryId: number
}

/** The functions used from the native package, which has no types. */
interface NativeBindings {
  readonly publicKeyCreate: (key: Uint8Array, isCompressed: boolean) => Uint8Array
  readonly ecdsaSign: (
    digest: Uint8Array,
    key: Uint8Array,
  ) => { readonly signature: Uint8Array; readonly recid: number }
}

/** Loads the fastest engine that this machine has, or the named one. */
export async function loadSigningEngine(name?: SigningEngine['name']): Promise<SigningEngine> {
  if (name === 'js') return loadJs()
  try {
    return loadNative()
  } catch (error) {
    if (name === 'native') throw error
    return loadJs()
  }
}

/** Loads the native engine. Throws where the package has no build for this machine. */
function loadNative(): SigningEngine {
  // Loads the bindings directly: the package's main file silently falls back to slow JavaScript when they can't be
  // loaded.
  const { publicKeyCreate, ecdsaSign } = createRequire(import.meta.url)('secp256k1/bindings') as NativeBindings
  return {
    name: 'native',
    publicKeyOf: (key) => publicKeyCreate(key, false),
    sign(digest, key) {
      const { signature, recid } = ecdsaSign(digest, key)
      return { rs: signature, recoveryId: recid }
    },
  }
}

async function loadJs(): Promise<SigningEngine> {
  const { secp256k1 } = await import('@noble/curves/secp256k1')
  return {
    name: 'js',
    publicKeyOf: (key) => secp256k1.getPublicKey(key, false),
    sign(digest, key) {
      const signature = secp256k1.sign(digest, key, { lowS: true, prehash: false })
      return { rs: signature.toCompactRawBytes(), recoveryId: signature.recovery }
    },
  }
}
