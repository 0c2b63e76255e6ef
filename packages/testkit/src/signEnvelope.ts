import { secp256k1 } from '@noble/curves/secp256k1'
import type { Hex } from '@bezel/protocol'
import {
  connectionId,
  type SignedParts,
  phantomAgentDigest,
  type PhantomSource,
} from '../../server/src/facade/signing/phantomAgent.ts'
import type { Envelope, EnvelopeSignature, ExchangeAction } from '../../server/src/facade/signing/envelope.ts'
import { userSignedDigest } from '../../server/src/facade/signing/signers.ts'

/** Signs a digest with a private key in hex. */
function signDigest(key: string, digest: Uint8Array): EnvelopeSignature {
  const { r, s, recovery } = secp256k1.sign(digest, key.slice(2))
  return { r: word(r), s: word(s), v: recovery === 0 ? 27 : 28 }
}

/** Signs an L1 action as a client does. The hash depends on the order of the object's keys. */
export function signL1(
  key: string,
  of: Pick<SignedParts, 'action' | 'nonce'> & Partial<SignedParts>,
  source: PhantomSource = 'b',
): Envelope {
  const parts: SignedParts = { vaultAddress: null, expiresAfter: null, ...of }
  return { ...parts, signature: signDigest(key, phantomAgentDigest(source, connectionId(parts))) }
}

/** Signs a user-signed action. The envelope's nonce is the action's own `nonce` or `time`. */
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
