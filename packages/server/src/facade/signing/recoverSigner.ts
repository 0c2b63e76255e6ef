import { parseAddress, type Address } from '@bezel/protocol'
import { recoverAddress } from '../../signatures/recoverAddress.ts'
import { parseSignature } from '../../signatures/signature.ts'
import type { SignatureEngine } from '../../signatures/signatureEngine.ts'
import type { EnvelopeSignature } from './envelope.ts'

/** Whose key signed the digest. Nearly every signature is somebody's; `undefined` for one out of range, or with s in the upper half. */
export function recoverSigner(
  engine: SignatureEngine,
  digest: Uint8Array,
  { r, s, v }: EnvelopeSignature,
): Address | undefined {
  const signature = parseSignature(`${r}${s.slice(2)}${v.toString(16)}`)
  const signer = signature === undefined ? undefined : recoverAddress(engine, digest, signature)
  return signer === undefined ? undefined : parseAddress(`0x${Buffer.from(signer).toString('hex')}`)
}
