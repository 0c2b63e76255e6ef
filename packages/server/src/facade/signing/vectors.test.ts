import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress } from '@bezel/protocol'
import { toHex } from 'viem'
import { ENGINES } from '../../signatures/testing/engines.ts'
import { connectionId, encodeAction, phantomAgentDigest } from './phantomAgent.ts'
import { l1SignerCandidates, userSignedSigner, userSignedDigest } from './signers.ts'
import { parseEnvelope } from './envelope.ts'
import { L1_VECTORS } from './testing/l1Vectors.ts'
import { signL1, signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { USER_SIGNED_VECTORS } from './testing/userSignedVectors.ts'
import { VECTOR_KEY, VECTOR_SIGNER } from './testing/vectorSigner.ts'

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))

describe('what the clients of the exchange sign', () => {
  for (const { name, msgpack, connectionId: id, signed, ...parts } of L1_VECTORS) {
    for (const source of ['a', 'b'] as const) {
      it(`${name}, source ${source}`, () => {
        const { digest, signature } = signed[source]
        const envelope = parseEnvelope(bytesOf({ ...parts, signature }))
        assert.equal(toHex(encodeAction(envelope.action)), msgpack)
        assert.equal(toHex(connectionId(envelope)), id)
        assert.equal(toHex(phantomAgentDigest(source, connectionId(envelope))), digest)
        for (const engine of ENGINES) {
          assert.deepEqual([...l1SignerCandidates(engine, envelope, [source])], [VECTOR_SIGNER])
        }
        assert.deepEqual(
          signL1(VECTOR_KEY, { ...parts, vaultAddress: parseAddress(parts.vaultAddress ?? '') ?? null }, source)
            .signature,
          signature,
        )
      })
    }
  }

  for (const { name, action, digest, signature } of USER_SIGNED_VECTORS) {
    it(name, () => {
      const envelope = parseEnvelope(bytesOf({ action, nonce: action.nonce ?? action.time, signature }))
      assert.equal(toHex(userSignedDigest(envelope.action)!), digest)
      for (const engine of ENGINES) assert.equal(userSignedSigner(engine, envelope), VECTOR_SIGNER)
      assert.deepEqual(signUserSigned(VECTOR_KEY, action).signature, signature)
    })
  }

  it('are 25', () => assert.equal(2 * L1_VECTORS.length + USER_SIGNED_VECTORS.length, 25))
})
