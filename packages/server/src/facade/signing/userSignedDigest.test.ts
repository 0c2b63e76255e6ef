import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { hashTypedData, toHex, zeroAddress } from 'viem'
import { selectEngine } from '../../signatures/engines.ts'
import { anyAddress } from '../../signatures/testing/domains.ts'
import type { ExchangeAction } from './envelope.ts'
import { signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { VECTOR_KEY, VECTOR_SIGNER } from './testing/vectorSigner.ts'
import { userSignedDigest, USER_SIGNED_STRUCTS, type MemberType, userSignedSigner } from './signers.ts'

const APPROVE = {
  type: 'approveAgent',
  signatureChainId: '0x66eee',
  hyperliquidChain: 'Testnet',
  agentAddress: '0x000000000000000000000000000000000000dead',
  agentName: 'bot',
  nonce: 1_731_628_800_010,
}

const anyOf: Readonly<Record<MemberType, fc.Arbitrary<string | number | boolean>>> = {
  string: fc.string({ unit: 'grapheme' }),
  address: anyAddress,
  uint64: fc.maxSafeNat(),
  bool: fc.boolean(),
}

describe('userSignedDigest', () => {
  for (const [type, { primaryType, members }] of Object.entries(USER_SIGNED_STRUCTS)) {
    it(`hashes ${type} as viem does`, () => {
      const anyMessage = fc.record(Object.fromEntries(members.map((member) => [member.name, anyOf[member.type]])))
      fc.assert(
        fc.property(anyMessage, fc.maxSafeNat(), (message, chainId) => {
          const expected = hashTypedData({
            domain: { name: 'HyperliquidSignTransaction', version: '1', chainId, verifyingContract: zeroAddress },
            types: { [primaryType]: members },
            primaryType,
            message,
          })
          const action: ExchangeAction = { type, signatureChainId: toHex(chainId), ...message }
          assert.equal(toHex(userSignedDigest(action)!), expected)
        }),
        { numRuns: 100 },
      )
    })
  }

  it('hashes no name as an empty one', () => {
    const { agentName: _, ...unnamed } = APPROVE
    const empty = userSignedDigest({ ...APPROVE, agentName: '' })
    assert.deepEqual(userSignedDigest(unnamed), empty)
    assert.deepEqual(userSignedDigest({ ...APPROVE, agentName: null }), empty)
    assert.notDeepEqual(userSignedDigest(APPROVE), empty)
  })

  it('uses the chain of the wallet as it is given', () => {
    const digests = ['0x1', '0x66eee', '0xa4b1', '0x0', '0x1fffffffffffff'].map((signatureChainId) =>
      userSignedDigest({ ...APPROVE, signatureChainId }),
    )
    assert.equal(new Set(digests.map((digest) => toHex(digest!))).size, digests.length)
    assert.deepEqual(userSignedDigest({ ...APPROVE, signatureChainId: '0x066EEE' }), userSignedDigest(APPROVE))
    for (const signatureChainId of [
      421_614,
      '421614',
      '',
      '0x',
      '0xzz',
      '0x20000000000000',
      `0x${'1'.repeat(40)}`,
      null,
    ]) {
      assert.equal(userSignedDigest({ ...APPROVE, signatureChainId }), undefined)
    }
  })

  it('has none for members that are missing or of another type, and for other actions', () => {
    for (const member of ['hyperliquidChain', 'agentAddress', 'nonce', 'signatureChainId']) {
      const { [member]: _, ...rest } = APPROVE as Record<string, string | number>
      assert.equal(userSignedDigest({ ...rest, type: 'approveAgent' }), undefined, member)
      for (const value of [null, true, [], {}, -1]) {
        assert.equal(userSignedDigest({ ...APPROVE, [member]: value }), undefined, member)
      }
    }
    for (const agentName of [0, false, [], {}]) assert.equal(userSignedDigest({ ...APPROVE, agentName }), undefined)
    for (const type of ['order', 'toString', 'constructor', '', 'ApproveAgent']) {
      assert.equal(userSignedDigest({ ...APPROVE, type }), undefined)
    }
  })
})

describe('userSignedSigner', () => {
  it('is the master wallet, and nobody when the action can not be hashed', async () => {
    const engine = await selectEngine()
    const envelope = signUserSigned(VECTOR_KEY, APPROVE)
    assert.equal(userSignedSigner(engine, envelope), VECTOR_SIGNER)
    assert.equal(userSignedSigner(engine, { ...envelope, action: { type: 'approveAgent' } }), undefined)
  })
})
