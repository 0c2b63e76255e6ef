import type { SignatureEngine } from './signatureEngine.ts'

/** Throws where there is no WebAssembly. */
export async function loadWasmEngine(): Promise<SignatureEngine> {
  // Its own file instead of the package: that starts four hash functions as well and takes four times as long.
  const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
  const { recoverPublicKeyUncompressed } = await instantiateSecp256k1()
  return {
    name: 'wasm',
    recoverPublicKey: (digest, rs, recoveryId) => {
      const key = recoverPublicKeyUncompressed(rs, recoveryId, digest)
      return typeof key === 'string' ? undefined : key
    },
  }
}
