import type { Address } from '@bezel/protocol'
import type { SignatureEngine } from '../../signatures/signatureEngine.ts'
import type { Envelope } from './envelope.ts'
import { recoverSigner } from './recoverSigner.ts'
import { userSignedDigest } from './userSignedDigest.ts'

/**
 * The master wallet of a user-signed action. Nothing can be compared with it: a wrong signature gives the address of nobody. `undefined` when the
 * action can't be hashed or the signature is out of range.
 */
export function userSignedSigner(
  engine: SignatureEngine,
  { action, signature }: Pick<Envelope, 'action' | 'signature'>,
): Address | undefined {
  const digest = userSignedDigest(action)
  return digest === undefined ? undefined : recoverSigner(engine, digest, signature)
}
