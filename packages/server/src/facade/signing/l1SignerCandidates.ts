import type { Address } from '@bezel/protocol'
import type { SignatureEngine } from '../../signatures/signatureEngine.ts'
import { canonicalAction } from './canonicalAction.ts'
import { connectionId } from './connectionId.ts'
import type { Envelope } from './envelope.ts'
import { phantomAgentDigest } from './phantomAgentDigest.ts'
import type { PhantomSource } from './phantomSource.ts'
import { recoverSigner } from './recoverSigner.ts'

/**
 * Who may have signed an L1 action, likeliest first, each once: a signature recovers to somebody whatever was signed, so the one it recovers
 * to must be known for it to mean anything. First the action as it was sent, for each network, then its canonical form. Recovered one by
 * one as they are asked for, so that an ordinary request costs one recovery; none at all when the signature is nobody's.
 */
export function* l1SignerCandidates(
  engine: SignatureEngine,
  envelope: Envelope,
  sources: readonly PhantomSource[],
): Generator<Address, void> {
  const seen = new Set<Address>()
  for (const id of connectionIds(envelope)) {
    for (const source of sources) {
      const signer = recoverSigner(engine, phantomAgentDigest(source, id), envelope.signature)
      if (signer === undefined || seen.has(signer)) continue
      seen.add(signer)
      yield signer
    }
  }
}

function* connectionIds(envelope: Envelope): Generator<Uint8Array, void> {
  const received = connectionId(envelope)
  yield received
  const action = canonicalAction(envelope.action)
  if (action === undefined) return
  const canonical = connectionId({ ...envelope, action })
  if (Buffer.compare(received, canonical) !== 0) yield canonical
}
