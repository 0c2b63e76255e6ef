import type { Hex } from 'viem'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MinedBlock, NodeBlock } from './block.ts'
import type { LocalChain } from './createLocalChain.ts'
import { MAX_REORG_DEPTH } from './history.ts'
import { toQuantity } from './jsonRpc.ts'
import type { ReorgMode, ReorgSummary } from './reorg.ts'
import {
  CHAIN_ID,
  EMITTER,
  OTHER_SENDER,
  SENDER,
  createTestChain,
  mineEmits,
  sendEmit,
  signEmit,
} from './testing/testChain.ts'

const DEPTHS = Array.from({ length: 16 }, (_, index) => index + 1)

const MODES: readonly ReorgMode[] = ['drop', 'remine']

async function readChain(chain: LocalChain): Promise<NodeBlock[]> {
  const blocks: NodeBlock[] = []
  for (let number = 0; number <= chain.head().number; number += 1) {
    blocks.push(await chain.request<NodeBlock>('eth_getBlockByNumber', [toQuantity(number), false]))
  }
  return blocks
}

function assertLinked(blocks: readonly NodeBlock[]): void {
  blocks.forEach((block, index) => {
    assert.equal(Number(block.number), index)
    if (index > 0) assert.equal(block.parentHash, blocks[index - 1]?.hash, `block ${index} is not on its parent`)
  })
}

async function blockOf(chain: LocalChain, hash: Hex): Promise<number | undefined> {
  const receipt = await chain.request<{ blockNumber: Hex } | null>('eth_getTransactionReceipt', [hash])
  return receipt === null ? undefined : Number(receipt.blockNumber)
}

for (const mode of MODES) {
  describe(`a reorg in mode ${mode}`, () => {
    for (const depth of DEPTHS) {
      test(`of depth ${depth} leaves a valid chain with other hashes`, async () => {
        const chain = await createTestChain()
        const sent = await mineEmits(chain, 18)
        const before = await readChain(chain)
        const { removed, added } = await chain.reorg(depth, mode)
        const after = await readChain(chain)
        assertLinked(after)
        const fork = before.length - depth
        assert.deepEqual(after.slice(0, fork), before.slice(0, fork), 'blocks below the fork are untouched')
        assert.equal(after.length, before.length + 1, 'the new chain is longer, so that followers switch')
        assert.deepEqual(
          removed,
          before.slice(fork).map(({ hash }) => hash),
        )
        assert.deepEqual(
          added,
          after.slice(fork).map(({ hash }) => hash),
        )
        assert.equal(
          added.some((hash) => removed.includes(hash)),
          false,
        )
        for (const [index, hash] of sent.entries()) {
          const expected = index + 1 < fork ? index + 1 : mode === 'drop' ? undefined : index + 2
          assert.equal(await blockOf(chain, hash), expected)
        }
      })
    }

    test('keeps the waiting transactions', async () => {
      const chain = await createTestChain()
      await mineEmits(chain, 4)
      const raw = await signEmit(0, 99, OTHER_SENDER)
      const hash = await chain.request<Hex>('eth_sendRawTransaction', [raw])
      await chain.reorg(3, mode)
      assert.equal(await blockOf(chain, hash), undefined)
      assert.deepEqual(await chain.request('txpool_status'), { pending: '0x1', queued: '0x0' })
      await chain.request('evm_mine')
      assert.equal(await blockOf(chain, hash), chain.head().number)
    })

    test('tells the removed logs newest first, then the new blocks in order', async () => {
      const chain = await createTestChain()
      await mineEmits(chain, 5)
      const told: MinedBlock[] = []
      chain.onBlock((block) => told.push(block))
      await chain.reorg(3, mode)
      const [first, ...rest] = told
      assert.ok(first)
      assert.deepEqual(
        first.removedLogs.map((log) => [Number(log.topics[0]), log.removed]),
        [
          [4, true],
          [3, true],
          [2, true],
        ],
      )
      assert.ok(rest.every((block) => block.removedLogs.length === 0))
      assert.deepEqual(
        told.map(({ number }) => number),
        [3, 4, 5, 6],
      )
      const topics = told.flatMap((block) => block.logs.map((log) => Number(log.topics[0])))
      assert.deepEqual(topics, mode === 'drop' ? [] : [2, 3, 4])
      assert.ok(told.every((block) => block.logs.every((log) => log.blockHash === block.hash && !log.removed)))
    })

    test('keeps state set by hardhat_setBalance in the replaced blocks', async () => {
      const chain = await createTestChain()
      await mineEmits(chain, 2)
      const lucky: Hex = `0x${'77'.repeat(20)}`
      await chain.request('hardhat_setBalance', [lucky, '0x64'])
      await mineEmits(chain, 2, 2)
      await chain.request('hardhat_setBalance', [EMITTER, '0x65'])
      await chain.reorg(3, mode)
      assert.equal(await chain.request('eth_getBalance', [lucky, 'latest']), '0x64')
      assert.equal(await chain.request('eth_getBalance', [EMITTER, 'latest']), '0x65')
      await chain.reorg(4, mode)
      assert.equal(await chain.request('eth_getBalance', [lucky, 'latest']), '0x64')
      assert.equal(await chain.request('eth_getBalance', [EMITTER, 'latest']), '0x65')
    })

    test(`works at depth ${MAX_REORG_DEPTH} on a long chain, across checkpoints, again and again`, async () => {
      const chain = await createTestChain()
      for (let round = 0; round < 40; round += 1) {
        await chain.request('eth_sendRawTransaction', [await signEmit(round)])
        await chain.request('hardhat_mine', [10])
      }
      for (const depth of [1, 64, MAX_REORG_DEPTH, 5]) await chain.reorg(depth, mode)
      assertLinked(await readChain(chain))
      assert.equal(chain.head().number, 404)
    })
  })
}

test('remine runs each transaction once: storage and nonce come out as before', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 6)
  await chain.reorg(6, 'remine')
  assert.equal(Number(await chain.request('eth_getStorageAt', [EMITTER, '0x0', 'latest'])), 6)
  assert.equal(await chain.request('eth_getTransactionCount', [SENDER.address, 'latest']), '0x6')
})

test('drop undoes state and nonce, and the dropped transactions can be sent again', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 6)
  const summary = await chain.reorg(2, 'drop')
  assert.equal(summary.lostTransactions, 2)
  assert.equal(Number(await chain.request('eth_getStorageAt', [EMITTER, '0x0', 'latest'])), 4)
  const again = await mineEmits(chain, 2, 4)
  assert.equal(await blockOf(chain, again[1] as Hex), chain.head().number)
})

test('several transactions of two senders in one block come back in the same order', async () => {
  const chain = await createTestChain()
  const raws = [signEmit(0), signEmit(0, 10, OTHER_SENDER), signEmit(1), signEmit(2), signEmit(1, 11, OTHER_SENDER)]
  for (const raw of await Promise.all(raws)) await chain.request('eth_sendRawTransaction', [raw])
  const before = await chain.mine()
  await chain.reorg(1, 'remine')
  assert.deepEqual(chain.head().transactions, before.transactions)
  assert.deepEqual(
    chain.head().logs.map(({ topics }) => Number(topics[0])),
    [0, 10, 1, 2, 11],
  )
})

test('a transaction that reverted is mined again with status 0', async () => {
  const chain = await createTestChain()
  await chain.request('hardhat_setCode', [EMITTER, '0x60006000fd'])
  const [hash] = await mineEmits(chain, 1)
  await chain.reorg(1, 'remine')
  const receipt = await chain.request<{ status: Hex; blockNumber: Hex }>('eth_getTransactionReceipt', [hash])
  assert.deepEqual([receipt.status, receipt.blockNumber], ['0x0', '0x2'])
})

test('a reorg from a block replaces it and all after it, also those that came meanwhile', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 6)
  const before = await readChain(chain)
  const meanwhile = chain.mine()
  const { removed } = await chain.request<ReorgSummary>('bezel_reorgFrom', [4, 'remine'])
  const { hash } = await meanwhile
  assert.deepEqual(removed, [...before.slice(4).map((block) => block.hash), hash])
  const after = await readChain(chain)
  assertLinked(after)
  assert.deepEqual(after.slice(0, 4), before.slice(0, 4))
})

test('refuses what it cannot do, and nothing is changed', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 3)
  const { hash } = chain.head()
  const refusals: [unknown[], number, RegExp][] = [
    [[4, 'drop'], -32000, /cannot replace 4 blocks: the chain has 3 after genesis/],
    [[0, 'drop'], -32602, /at least 1/],
    [[1.5, 'drop'], -32602, /depth must be a whole number/],
    [[-1, 'drop'], -32602, /depth must be a whole number/],
    [['x', 'drop'], -32602, /depth/],
    [[], -32602, /depth/],
    [[1, 'keep'], -32602, /mode must be "drop" or "remine"/],
  ]
  for (const [params, code, message] of refusals) {
    await assert.rejects(chain.request('bezel_reorg', params), { code, message })
  }
  for (const first of [0, 4]) {
    const message = new RegExp(`the first block must be 1 to 3, not ${first}`)
    await assert.rejects(chain.request('bezel_reorgFrom', [first, 'drop']), { code: -32602, message })
  }
  await chain.request('hardhat_mine', [400])
  await assert.rejects(chain.reorg(MAX_REORG_DEPTH + 1, 'drop'), /only the last 128 are kept/)
  assert.equal((await chain.request<NodeBlock>('eth_getBlockByNumber', ['0x3', false])).hash, hash)
  assert.equal(chain.head().number, 403)
})

test('nobody sees a shorter chain while a reorg runs, and sends meanwhile are not lost', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 20)
  const raw = await signEmit(0, 50, OTHER_SENDER)
  const early = chain.request<Hex>('eth_sendRawTransaction', [raw])
  const replaced = chain.reorg(16, 'remine')
  const heights = Array.from({ length: 30 }, async () => Number(await chain.request('eth_blockNumber')))
  const late = sendEmit(chain, 20)
  await replaced
  assert.ok((await Promise.all(heights)).every((height) => height >= 20))
  await chain.request('evm_mine')
  for (const hash of [await early, await late]) assert.notEqual(await blockOf(chain, hash), undefined)
})

test('mining by the timer goes on through reorgs', async () => {
  const chain = await createTestChain({ blockMs: 5 })
  const numbers = new Promise<void>((resolve) => chain.onBlock(({ number }) => number >= 40 && resolve()))
  chain.start()
  for (let round = 0; round < 5; round += 1) {
    await new Promise<void>((resolve) => {
      const stop = chain.onBlock(() => {
        stop()
        resolve()
      })
    })
    await chain.reorg(1, 'remine')
  }
  await numbers
  await chain.stop()
  assertLinked(await readChain(chain))
  assert.equal(chain.chainId, CHAIN_ID)
})
