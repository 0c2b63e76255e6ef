import type { Hex } from 'viem'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MinedBlock } from './block.ts'
import type { LocalChain } from './createLocalChain.ts'
import { EMITTER, createTestChain, mineEmits, sendEmit } from './testing/testChain.ts'

async function count(chain: LocalChain): Promise<number> {
  return Number(await chain.request('eth_getStorageAt', [EMITTER, '0x0', 'latest']))
}

test('evm_revert brings back state, height and time, and uses the snapshot up', async () => {
  let nowMs = 1_700_000_000_000
  const chain = await createTestChain({ now: () => nowMs })
  await mineEmits(chain, 2)
  const id = await chain.request<Hex>('evm_snapshot')
  await chain.request('evm_increaseTime', [1_000])
  await mineEmits(chain, 3, 2)
  assert.equal(await chain.request('evm_revert', [id]), true)
  assert.deepEqual([chain.head().number, await count(chain)], [2, 2])
  nowMs += 5_000
  await chain.request('evm_mine')
  assert.equal(chain.head().timestampS, 1_700_000_005)
  assert.equal(await chain.request('evm_revert', [id]), false)
})

test('blocks after evm_revert have other hashes, even in the same second', async () => {
  const chain = await createTestChain({ now: () => 1_700_000_000_000 })
  const id = await chain.request<Hex>('evm_snapshot')
  await chain.request('evm_mine')
  const { hash } = chain.head()
  await chain.request('evm_revert', [id])
  await chain.request('evm_mine')
  assert.notEqual(chain.head().hash, hash)
})

test('evm_revert tells the removed logs and the head it went back to', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 1)
  const { hash } = chain.head()
  const id = await chain.request<Hex>('evm_snapshot')
  await mineEmits(chain, 2, 1)
  const told: MinedBlock[] = []
  chain.onBlock((block) => told.push(block))
  await chain.request('evm_revert', [id])
  assert.equal(told.length, 1)
  assert.deepEqual([told[0]?.number, told[0]?.hash, told[0]?.logs], [1, hash, []])
  assert.deepEqual(
    told[0]?.removedLogs.map((log) => [Number(log.topics[0]), log.removed]),
    [
      [2, true],
      [1, true],
    ],
  )
})

test('evm_revert brings back the transactions that waited then, and no others', async () => {
  const chain = await createTestChain()
  const waiting = await sendEmit(chain, 0)
  const id = await chain.request<Hex>('evm_snapshot')
  const later = await sendEmit(chain, 1)
  await chain.request('evm_mine')
  await chain.request('evm_revert', [id])
  await chain.request('evm_mine')
  assert.deepEqual(chain.head().transactions, [waiting])
  assert.equal(await chain.request('eth_getTransactionByHash', [later]), null)
})

test('an earlier snapshot takes the later ones with it', async () => {
  const chain = await createTestChain()
  const first = await chain.request<Hex>('evm_snapshot')
  const second = await chain.request<Hex>('evm_snapshot')
  assert.notEqual(first, second)
  assert.equal(await chain.request('evm_revert', [first]), true)
  assert.equal(await chain.request('evm_revert', [second]), false)
})

test('a snapshot outlives reorgs above it and dies with its block', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 3)
  const low = await chain.request<Hex>('evm_snapshot')
  await mineEmits(chain, 3, 3)
  const high = await chain.request<Hex>('evm_snapshot')
  await mineEmits(chain, 1, 6)
  await chain.reorg(1, 'remine')
  await chain.reorg(4, 'remine')
  assert.equal(await chain.request('evm_revert', [high]), false)
  assert.equal(await chain.request('evm_revert', [low]), true)
  assert.deepEqual([chain.head().number, await count(chain)], [3, 3])
})

test('a reorg works right after evm_revert', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 5)
  const id = await chain.request<Hex>('evm_snapshot')
  await chain.request('hardhat_mine', [300])
  await chain.request('evm_revert', [id])
  await assert.rejects(chain.reorg(6, 'drop'), /cannot replace 6 blocks/)
  await chain.request('evm_mine')
  await chain.reorg(1, 'remine')
  assert.deepEqual([chain.head().number, await count(chain)], [7, 5])
})

test('state set before a snapshot is still there after evm_revert and a reorg', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 1)
  await chain.request('hardhat_setBalance', [EMITTER, '0x5'])
  const id = await chain.request<Hex>('evm_snapshot')
  await chain.request('hardhat_setBalance', [EMITTER, '0x6'])
  await chain.request('evm_mine')
  await chain.request('evm_revert', [id])
  await chain.request('evm_mine')
  await chain.reorg(2, 'remine')
  assert.equal(await chain.request('eth_getBalance', [EMITTER, 'latest']), '0x5')
})

test('an unknown or malformed snapshot id is refused', async () => {
  const chain = await createTestChain()
  assert.equal(await chain.request('evm_revert', ['0x99']), false)
  await assert.rejects(chain.request('evm_revert', ['nope']), { code: -32602 })
  await assert.rejects(chain.request('evm_revert', []), { code: -32602 })
})
