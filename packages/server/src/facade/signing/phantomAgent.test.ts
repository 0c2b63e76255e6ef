import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAIN_SLUGS, CHAINS, type Address } from '@bezel/protocol'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { allowedSources, connectionId, type SignedParts, encodeAction, phantomAgentDigest } from './phantomAgent.ts'
import { encode } from '@msgpack/msgpack'
import fc from 'fast-check'
import { concatHex, hashTypedData, keccak256, numberToHex, toHex, zeroAddress, type Hex } from 'viem'
import { anyAddress } from '../../signatures/testing/domains.ts'
import { parseEnvelope } from './envelope.ts'
import { anyAction } from './testing/anyAction.ts'
import { referenceMsgpack } from './testing/referenceMsgpack.ts'

const SIGNATURE = { r: '0x1', s: '0x1', v: 27 }

const RUNS = { numRuns: 10_000, seed: 20_260_101 }

const anyParts = fc.record({
  action: anyAction,
  nonce: fc.oneof(fc.maxSafeNat(), fc.integer({ min: 1.6e12, max: 1.9e12 })),
  vaultAddress: fc.option(anyAddress),
  expiresAfter: fc.option(fc.oneof(fc.constant(0), fc.maxSafeNat())),
})

const LOCAL = { diamond: `0x${'1'.repeat(40)}` as Address }

describe('allowedSources', () => {
  it("takes only the testnet's where a live chain has real money", () => {
    for (const slug of CHAIN_SLUGS) {
      const expected = CHAINS[slug].testnet ? ['b', 'a'] : ['b']
      assert.deepEqual(allowedSources(testChain(slug), 'auto'), expected, slug)
    }
  })

  it('takes both on local chains', () => {
    for (const slug of CHAIN_SLUGS) assert.deepEqual(allowedSources(testChain(slug, LOCAL), 'auto'), ['b', 'a'], slug)
  })

  it('does as the setting says, whatever the chain', () => {
    for (const slug of CHAIN_SLUGS) {
      assert.deepEqual(allowedSources(testChain(slug), 'both'), ['b', 'a'])
      assert.deepEqual(allowedSources(testChain(slug, LOCAL), 'testnet'), ['b'])
    }
  })
})

describe('connectionId', () => {
  it('hashes 10,000 random actions as others do', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const text = JSON.stringify({ ...parts, signature: SIGNATURE })
        const envelope = parseEnvelope(Buffer.from(text))
        assert.equal(toHex(connectionId(envelope)), independent(JSON.parse(text) as SignedParts))
        assert.deepEqual(Buffer.from(encodeAction(envelope.action)), referenceMsgpack(parts.action))
      }),
      RUNS,
    )
  })

  it('differs for every part of the envelope, and no expiry is not an expiry of 0', () => {
    const vault = '0x1719884eb866cb12b2287399b15f7db5e7d775ea' as Address
    const parts: SignedParts = { action: { type: 'noop' }, nonce: 1, vaultAddress: null, expiresAfter: null }
    const all = [
      parts,
      { ...parts, action: { type: 'noop', a: null } },
      { ...parts, nonce: 2 },
      { ...parts, vaultAddress: vault },
      { ...parts, expiresAfter: 0 },
      { ...parts, expiresAfter: 1 },
      { ...parts, vaultAddress: vault, expiresAfter: 0 },
    ]
    assert.equal(new Set(all.map((one) => toHex(connectionId(one)))).size, all.length)
  })

  it('is the same for a vault in any case', () => {
    const of = (vaultAddress: string): string =>
      toHex(
        connectionId({ action: { type: 'noop' }, nonce: 1, vaultAddress: vaultAddress as Address, expiresAfter: null }),
      )
    assert.equal(of(`0x${'ab'.repeat(20)}`), of(`0x${'AB'.repeat(20)}`))
  })
})

describe('phantomAgentDigest', () => {
  it('is what viem makes of it', () => {
    const anyId = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(fc.constantFrom('a', 'b'), anyId, (source, id) => {
        assert.equal(toHex(phantomAgentDigest(source, id)), independentDigest(source, toHex(id)))
      }),
      { numRuns: 500 },
    )
  })

  it('refuses an id that has not 32 bytes', () => {
    assert.throws(() => phantomAgentDigest('a', new Uint8Array(31)), RangeError)
  })
})

/** Computes the hash with independent code: viem, the msgpack package's own function, and `JSON.parse`. */
function independent({ action, nonce, vaultAddress, expiresAfter }: SignedParts): Hex {
  return keccak256(
    concatHex([
      toHex(encode(action)),
      numberToHex(nonce, { size: 8 }),
      vaultAddress === null ? '0x00' : concatHex(['0x01', vaultAddress]),
      expiresAfter === null ? '0x' : concatHex(['0x00', numberToHex(expiresAfter, { size: 8 })]),
    ]),
  )
}

function independentDigest(source: string, id: Hex): Hex {
  return hashTypedData({
    domain: { name: 'Exchange', version: '1', chainId: 1337, verifyingContract: zeroAddress },
    types: {
      Agent: [
        { name: 'source', type: 'string' },
        { name: 'connectionId', type: 'bytes32' },
      ],
    },
    primaryType: 'Agent',
    message: { source, connectionId: id },
  })
}
