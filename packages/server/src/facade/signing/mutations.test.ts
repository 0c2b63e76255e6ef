import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { JsonValue } from '../../json/parseStrictJson.ts'
import { selectEngine } from '../../signatures/engines.ts'
import { type Envelope, parseEnvelope, MalformedEnvelope } from './envelope.ts'
import { l1SignerCandidates, userSignedSigner, userSignedDigest } from './signers.ts'
import { L1_VECTORS } from './testing/l1Vectors.ts'
import { anyMutation, anySignatureOrActionMutation, type Mutation } from './testing/mutations.ts'
import { USER_SIGNED_VECTORS } from './testing/userSignedVectors.ts'
import { VECTOR_SIGNER } from './testing/vectorSigner.ts'

const engine = await selectEngine()

const SEED = 20_260_102

const L1_SENT = L1_VECTORS.flatMap(({ action, nonce, vaultAddress, expiresAfter, signed }) =>
  (['a', 'b'] as const).map((source) => ({ action, nonce, vaultAddress, expiresAfter, ...signed[source] })),
)

const USER_SENT = USER_SIGNED_VECTORS.map(({ action, signature }) => ({
  action,
  nonce: action.nonce ?? action.time ?? 0,
  signature,
}))

/** Parses an envelope; `undefined` when it no longer is one. */
function parsed(value: unknown): Envelope | undefined {
  try {
    return parseEnvelope(Buffer.from(JSON.stringify(value)))
  } catch (error) {
    assert.ok(error instanceof MalformedEnvelope)
    return undefined
  }
}

const mutated = (envelope: object, mutate: Mutation) => parsed(mutate(envelope as { [key: string]: JsonValue }))

describe('an envelope that was changed', () => {
  it("is not its signer's any more, in 10,000 of 10,000 L1 actions", () => {
    let stillEnvelopes = 0
    fc.assert(
      fc.property(fc.constantFrom(...L1_SENT), anyMutation, (sent, mutate) => {
        const envelope = mutated(sent, mutate)
        if (envelope === undefined) return
        stillEnvelopes++
        assert.ok(![...l1SignerCandidates(engine, envelope, ['b', 'a'])].includes(VECTOR_SIGNER as never))
      }),
      { numRuns: 10_000, seed: SEED },
    )
    assert.ok(stillEnvelopes > 9_000, String(stillEnvelopes))
  })

  it("is not its master wallet's any more, where what is signed was changed", () => {
    let changed = 0
    fc.assert(
      fc.property(fc.constantFrom(...USER_SENT), anySignatureOrActionMutation, (sent, mutate) => {
        const before = parsed(sent)!
        const envelope = mutated(sent, mutate)
        if (envelope === undefined || isSameStruct(before, envelope)) return
        changed++
        assert.notEqual(userSignedSigner(engine, envelope), VECTOR_SIGNER)
      }),
      { numRuns: 5_000, seed: SEED },
    )
    assert.ok(changed > 3_000, String(changed))
  })

  /** True when both have the same signed struct and signature. A key outside the struct is neither signed nor read. */
  function isSameStruct(one: Envelope, other: Envelope): boolean {
    const [a, b] = [one, other].map(({ action }) => Buffer.from(userSignedDigest(action) ?? []).toString('hex'))
    return a === b && JSON.stringify(one.signature) === JSON.stringify(other.signature)
  }

  it("on its way to the other network is not its signer's", () => {
    for (const { signed, ...of } of L1_VECTORS) {
      for (const [source, other] of [
        ['a', 'b'],
        ['b', 'a'],
      ] as const) {
        const envelope = parsed({ ...of, signature: signed[source].signature })!
        assert.ok(![...l1SignerCandidates(engine, envelope, [other])].includes(VECTOR_SIGNER as never))
      }
    }
  })
})
