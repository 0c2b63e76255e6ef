import { addressBytes } from './addressBytes.ts'
import { recoverAddress } from './recoverAddress.ts'
import { parseSignature } from './signature.ts'
import type { SignatureEngine } from './signatureEngine.ts'

/** Whether the signature (hex) is the address's own over the digest. False for anything malformed; never throws. */
export function recoversTo(
  engine: SignatureEngine,
  of: { readonly digest: Uint8Array; readonly signature: string; readonly address: string },
): boolean {
  const signature = parseSignature(of.signature)
  const expected = addressBytes(of.address)
  if (signature === undefined || expected === undefined) return false
  const recovered = recoverAddress(engine, of.digest, signature)
  return recovered !== undefined && Buffer.compare(recovered, expected) === 0
}
