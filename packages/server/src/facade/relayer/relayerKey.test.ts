import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address, Hex } from '@bezel/protocol'
import fc from 'fast-check'
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { FeeTransaction } from './encodeTransaction.ts'
import { createRelayerKey, ACTION_SELECTOR, ForbiddenTransactionError } from './relayerKey.ts'
import { loadSigningEngine } from './signingEngine.ts'
import { CHAIN, testKey, TRADER } from './testing/relayWorld.ts'

const wei = fc.bigInt({ min: 0n, max: 2n ** 128n })

/** Any transaction that the key may sign. */
const transactions = fc.record({
  nonce: fc.nat(),
  gas: fc.bigInt({ min: 0n, max: 2n ** 63n }),
  maxFeeWei: wei,
  maxPriorityFeeWei: wei,
  value: fc.constant(0n),
  target: fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((bytes) => ({
      to: CHAIN.diamond,
      data: `${ACTION_SELECTOR}${Buffer.from(bytes).toString('hex')}` as Hex,
    })),
    fc.constant({ to: testKey.address, data: '0x' as Hex }),
  ),
})

describe('the relayer key', () => {
  for (const name of ['native', 'js'] as const) {
    it(`signs with the ${name} engine what a wallet would`, async () => {
      const secret = Buffer.alloc(32, 7)
      const account = privateKeyToAccount(`0x${secret.toString('hex')}`)
      const signer = createRelayerKey(secret, await loadSigningEngine(name)).signerOf(CHAIN)
      assert.equal(signer.address, account.address)
      await fc.assert(
        fc.asyncProperty(transactions, async ({ target, ...rest }) => {
          const { raw, hash } = signer.sign({ ...target, ...rest })
          const expected = await account.signTransaction({
            type: 'eip1559',
            chainId: CHAIN.chainId,
            nonce: rest.nonce,
            gas: rest.gas,
            maxFeePerGas: rest.maxFeeWei > rest.maxPriorityFeeWei ? rest.maxFeeWei : rest.maxPriorityFeeWei,
            maxPriorityFeePerGas: rest.maxPriorityFeeWei,
            value: 0n,
            ...target,
          })
          if (rest.maxFeeWei >= rest.maxPriorityFeeWei) assert.equal(raw, expected)
          assert.equal(hash, keccak256(raw))
        }),
        { numRuns: name === 'native' ? 300 : 60 },
      )
    })
  }

  it('signs nothing but the two shapes', () => {
    const signer = testKey.signerOf(CHAIN)
    const action = { to: CHAIN.diamond, data: `${ACTION_SELECTOR}00` as Hex }
    const good: FeeTransaction = { nonce: 0, gas: 1n, value: 0n, maxFeeWei: 1n, maxPriorityFeeWei: 1n, ...action }
    const bad: readonly Partial<FeeTransaction>[] = [
      { value: 1n },
      { to: TRADER },
      { to: testKey.address },
      { data: '0x' as Hex },
      { data: '0x095ea7b3' as Hex },
      { data: `0x00${ACTION_SELECTOR.slice(2)}` as Hex },
      { to: testKey.address, data: '0x' as Hex, value: 1n },
      { to: testKey.address, data: '0x00' as Hex },
      { to: TRADER, data: '0x' as Hex },
      { to: CHAIN.diamond.toLowerCase() as Address },
    ]
    assert.ok(signer.sign(good).raw.startsWith('0x02'))
    assert.ok(signer.sign({ ...good, to: testKey.address, data: '0x' as Hex }).raw.startsWith('0x02'))
    for (const change of bad) assert.throws(() => signer.sign({ ...good, ...change }), ForbiddenTransactionError)
  })

  it('does not show in what is printed of it', () => {
    assert.ok(!JSON.stringify(testKey).includes('0707'))
    assert.deepEqual(Object.keys(testKey), ['address', 'signerOf'])
  })
})
