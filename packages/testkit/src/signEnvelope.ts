import { secp256k1 } from '@noble/curves/secp256k1'
import type { Hex } from '@bezel/protocol'
import { connectionId, type SignedParts } from '../../server/src/facade/signing/connectionId.ts'
import type { Envelope, EnvelopeSignature, ExchangeAction } from '../../server/src/facade/signing/envelope.ts'
import { phantomAgentDigest } from '../../server/src/facade/signing/phantomAgentDigest.ts'
import type { PhantomSource } from '../../server/src/facade/signing/phantomSource.ts'
import { userSignedDigest } from '../../server/src/facade/signing/userSignedDigest.ts'

/** A digest signed with a private key (hex). */
export function signDigest(key: string, digest: Uint8Array): EnvelopeSignature {
  const { r, s, recovery } = secp256k1.sign(digest, key.slice(2))
  return { r: word(r), s: word(s), v: recovery === 0 ? 27 : 28 }
}

/** As a client does: the order of keys is that of the object. */
export function signL1(
  key: string,
  of: Pick<SignedParts, 'action' | 'nonce'> & Partial<SignedParts>,
  source: PhantomSource = 'b',
): Envelope {
  const parts: SignedParts = { vaultAddress: null, expiresAfter: null, ...of }
  return { ...parts, signature: signDigest(key, phantomAgentDigest(source, connectionId(parts))) }
}

/** The outer nonce is the one of the action. */
export function signUserSigned(key: string, action: ExchangeAction): Envelope {
  const nonce = Number(action.nonce ?? action.time)
  return {
    action,
    nonce,
    vaultAddress: null,
    expiresAfter: null,
    signature: signDigest(key, userSignedDigest(action)!),
  }
}

function word(number: bigint): Hex {
  return `0x${number.toString(16).padStart(64, '0')}` as Hex
}
