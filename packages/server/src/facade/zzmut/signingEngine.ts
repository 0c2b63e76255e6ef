import { createRequire } from 'node:module'

/** One implementation of signing. Both give the same bytes for the same input: the nonce follows from key and digest (RFC 6979). */
export interface SigningEngine {
  readonly name: 'native' | 'js'
  /** The 65 bytes of the uncompressed public key. Throws when the 32 bytes are no private key. */
  readonly publicKeyOf: (key: Uint8Array) => Uint8Array
  /** With s in the lower half, as chains demand. */
  readonly sign: (digest: Uint8Array, key: Uint8Array) => CompactSignature
}

export interface CompactSignature {
  /** r and s, 32 bytes each. */
  readonly rs: Uint8Array
  readonly recoveryId: number
}

/** The part of the native package that is used here; it comes without types. */
interface NativeBindings {
  readonly publicKeyCreate: (key: Uint8Array, isCompressed: boolean) => Uint8Array
  readonly ecdsaSign: (
    digest: Uint8Array,
    key: Uint8Array,
  ) => { readonly signature: Uint8Array; readonly recid: number }
}

/** The fastest that this machine has. Name one to force it. */
export async function loadSigningEngine(name?: SigningEngine['name']): Promise<SigningEngine> {
  if (name === 'js') return loadJs()
  try {
    return loadNative()
  } catch (error) {
    if (name === 'native') throw error
    return loadJs()
  }
}

/** Throws where the package has no build for this machine. */
function loadNative(): SigningEngine {
  // The bindings by name: the package's main file turns into slow JavaScript without a word when they can't be loaded.
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
