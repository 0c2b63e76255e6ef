import type { SignatureEngine } from './signatureEngine.ts'

/** Works everywhere. */
export async function loadJsEngine(): Promise<SignatureEngine> {
  const { secp256k1 } = await import('@noble/curves/secp256k1')
  return {
    name: 'js',
    recoverPublicKey: (digest, rs, recoveryId) =>
      secp256k1.Signature.fromCompact(rs).addRecoveryBit(recoveryId).recoverPublicKey(digest).toRawBytes(false),
  }
}
