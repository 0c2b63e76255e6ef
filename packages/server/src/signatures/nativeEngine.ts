import { createRequire } from 'node:module'
import type { SignatureEngine } from './signatureEngine.ts'

/** The part of the package that is used here; it comes without types. */
interface NativeBindings {
  readonly ecdsaRecover: (rs: Uint8Array, recoveryId: number, digest: Uint8Array, isCompressed: boolean) => Uint8Array
}

/** Throws where the package has no build for this machine. */
export function loadNativeEngine(): SignatureEngine {
  // The bindings by name: the package's main file turns into slow JavaScript without a word when they can't be loaded.
  const { ecdsaRecover } = createRequire(import.meta.url)('secp256k1/bindings') as NativeBindings
  return {
    name: 'native',
    recoverPublicKey: (digest, rs, recoveryId) => ecdsaRecover(rs, recoveryId, digest, false),
  }
}
