import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createPublicClient, createWalletClient, custom, defineChain, type Hex } from 'viem'
import type { NodeBlock } from './block.ts'
import type { LocalChain } from './createLocalChain.ts'
import { toWord } from './jsonRpc.ts'
import {
  CHAIN_ID,
  EMITTER,
  OTHER_SENDER,
  REVERTER,
  SENDER,
  createTestChain,
  mineEmits,
  sendEmit,
  signCall,
  signEmit,
} from './testing/testChain.ts'

function viemClients(chain: LocalChain) {
  const transport = custom(
    { request: ({ method, params }) => chain.request(method, params as unknown[]) },
    { retryCount: 0 },
  )
  const viemChain = defineChain({
    id: CHAIN_ID,
    name: 'test',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  })
  return {
    reader: createPublicClient({ chain: viemChain, transport, pollingInterval: 1 }),
    wallet: createWalletClient({ chain: viemChain, transport, account: SENDER }),
  }
}

test('genesis has the balances asked for, and several chains live side by side', async () => {
  const accounts = [{ address: EMITTER, balanceWei: 123n }]
  const [one, two] = await Promise.all([
    createTestChain({ chainId: 137, accounts }),
    createTestChain({ chainId: 8453 }),
  ])
  assert.equal(await one.request('eth_getBalance', [EMITTER, 'latest']), '0x7b')
  assert.equal(await two.request('eth_getBalance', [EMITTER, 'latest']), '0x0')
  await one.mine()
  assert.deepEqual(await Promise.all([one, two].map((chain) => chain.request('eth_chainId'))), ['0x89', '0x2105'])
  assert.deepEqual([one.head().number, two.head().number], [1, 0])
})

test('a transaction waits for the next block', async () => {
  const chain = await createTestChain()
  const hash = await sendEmit(chain, 0)
  assert.equal(await chain.request('eth_getTransactionReceipt', [hash]), null)
  assert.equal((await chain.request<{ blockNumber: unknown }>('eth_getTransactionByHash', [hash])).blockNumber, null)
  assert.equal(await chain.request('eth_getTransactionCount', [SENDER.address, 'latest']), '0x0')
  assert.equal(await chain.request('eth_getTransactionCount', [SENDER.address, 'pending']), '0x1')
  const block = await chain.mine()
  assert.deepEqual(block.transactions, [hash])
  assert.equal((await chain.request<{ status: Hex }>('eth_getTransactionReceipt', [hash])).status, '0x1')
})

test('the pending count ends before the first nonce that is missing', async () => {
  const chain = await createTestChain()
  const pendingCount = (address: string): Promise<unknown> =>
    chain.request('eth_getTransactionCount', [address, 'pending'])
  assert.equal(await pendingCount(SENDER.address), '0x0')
  for (const nonce of [0, 1, 3]) await sendEmit(chain, nonce)
  assert.equal(await pendingCount(SENDER.address), '0x2')
  assert.equal(await pendingCount(SENDER.address.toLowerCase()), '0x2')
  assert.equal(await pendingCount(EMITTER), await chain.request('eth_getTransactionCount', [EMITTER, 'latest']))
  await chain.mine()
  assert.equal(await pendingCount(SENDER.address), '0x2')
  await sendEmit(chain, 2)
  assert.equal(await pendingCount(SENDER.address), '0x4')
  await assert.rejects(chain.request('eth_getTransactionCount', ['no address', 'pending']))
  await assert.rejects(chain.request('eth_getTransactionCount', []))
})

test('a transaction that reverts is mined with status 0', async () => {
  const chain = await createTestChain()
  const hash = await chain.request('eth_sendRawTransaction', [await signCall(0, REVERTER)])
  await chain.mine()
  assert.equal((await chain.request<{ status: Hex }>('eth_getTransactionReceipt', [hash])).status, '0x0')
})

test('listeners are told each block once, in order, with its logs; one that throws is reported', async () => {
  const faults: unknown[] = []
  const chain = await createTestChain({ report: (error) => faults.push(error) })
  const told: unknown[] = []
  const stopThrowing = chain.onBlock(() => {
    throw new Error('listener fault')
  })
  chain.onBlock(({ number, logs, transactions, removedLogs }) =>
    told.push([number, logs.length, transactions.length, removedLogs]),
  )
  await mineEmits(chain, 2)
  stopThrowing()
  await chain.mine()
  assert.deepEqual(told, [
    [1, 1, 1, []],
    [2, 1, 1, []],
    [3, 0, 0, []],
  ])
  assert.equal(faults.length, 2)
})

test('a listener may ask the chain, also during a reorg', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 3)
  const heights: Promise<number>[] = []
  chain.onBlock(() => heights.push(chain.request<Hex>('eth_blockNumber').then(Number)))
  await chain.reorg(2, 'remine')
  assert.deepEqual(await Promise.all(heights), [4, 4, 4])
})

test('eth_getBlockReceipts gives the receipts by number, tag, hash and object', async () => {
  const chain = await createTestChain()
  const hashes = [await sendEmit(chain, 0), await sendEmit(chain, 1)]
  const { hash } = await chain.mine()
  const receipts = await Promise.all(hashes.map((sent) => chain.request('eth_getTransactionReceipt', [sent])))
  for (const id of ['0x1', 'latest', hash, { blockHash: hash }, { blockNumber: '0x1' }]) {
    assert.deepEqual(await chain.request('eth_getBlockReceipts', [id]), receipts)
  }
  assert.deepEqual(await chain.request('eth_getBlockReceipts', ['0x0']), [])
  assert.equal(await chain.request('eth_getBlockReceipts', ['0x99']), null)
  for (const bad of [[], [5.5], ['x'], [{}]])
    await assert.rejects(chain.request('eth_getBlockReceipts', bad), { code: -32602 })
})

test('txpool methods tell pending from queued', async () => {
  const chain = await createTestChain()
  for (const raw of [signEmit(0), signEmit(2), signEmit(0, 0, OTHER_SENDER)]) {
    await chain.request('eth_sendRawTransaction', [await raw])
  }
  assert.deepEqual(await chain.request('txpool_status'), { pending: '0x2', queued: '0x1' })
  const content = await chain.request<{ queued: Record<Hex, Record<string, { nonce: Hex }>> }>('txpool_content')
  assert.equal(content.queued[SENDER.address.toLowerCase() as Hex]?.['2']?.nonce, '0x2')
  await chain.mine()
  assert.deepEqual(await chain.request('txpool_status'), { pending: '0x0', queued: '0x1' })
})

test('hardhat_dropTransaction takes a transaction out for good, also through a reorg', async () => {
  const chain = await createTestChain()
  await chain.mine()
  const hash = await sendEmit(chain, 0)
  assert.equal(await chain.request('hardhat_dropTransaction', [hash]), true)
  await chain.reorg(1, 'remine')
  assert.deepEqual(await chain.request('txpool_status'), { pending: '0x0', queued: '0x0' })
})

test('a transaction replaced by a better paid one stays replaced, also through a reorg', async () => {
  const chain = await createTestChain()
  await chain.mine()
  const replaced = await sendEmit(chain, 0)
  const better = await SENDER.signTransaction({
    type: 'eip1559',
    chainId: CHAIN_ID,
    nonce: 0,
    to: EMITTER,
    gas: 100_000n,
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 2_000n,
  })
  const hash = await chain.request('eth_sendRawTransaction', [better])
  assert.equal((await chain.reorg(1, 'drop')).lostTransactions, 0)
  assert.deepEqual((await chain.mine()).transactions, [hash])
  await chain.reorg(1, 'drop')
  assert.equal(await chain.request('eth_getTransactionByHash', [replaced]), null)
  assert.deepEqual(await chain.request('txpool_status'), { pending: '0x0', queued: '0x0' })
})

test('logs are found by range, topics and block hash', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 4)
  const count = async (filter: unknown): Promise<number> =>
    (await chain.request<unknown[]>('eth_getLogs', [filter])).length
  assert.equal(await count({ fromBlock: '0x0', toBlock: 'latest' }), 4)
  assert.equal(await count({ fromBlock: '0x2', toBlock: '0x3', address: EMITTER }), 2)
  assert.equal(await count({ fromBlock: '0x0', topics: [[toWord(0), toWord(3)]] }), 2)
  assert.equal(await count({ blockHash: chain.head().hash }), 1)
})

test('block tags work', async () => {
  const chain = await createTestChain()
  await mineEmits(chain, 2)
  const numbers = await Promise.all(
    ['earliest', 'latest', 'safe', 'finalized'].map(async (tag) =>
      Number((await chain.request<NodeBlock>('eth_getBlockByNumber', [tag, false])).number),
    ),
  )
  assert.deepEqual(numbers, [0, 2, 2, 2])
  const pending = await chain.request<NodeBlock>('eth_getBlockByNumber', ['pending', true])
  assert.equal(pending.parentHash, chain.head().hash)
})

test('viem sends, waits and reads with its own defaults', async () => {
  const chain = await createTestChain({ blockMs: 5 })
  chain.start()
  const { reader, wallet } = viemClients(chain)
  const hash = await wallet.sendTransaction({ to: EMITTER, data: toWord(7) })
  const receipt = await reader.waitForTransactionReceipt({ hash })
  await chain.stop()
  assert.equal(receipt.status, 'success')
  assert.equal(receipt.logs.length, 1)
  assert.ok((await reader.getGasPrice()) < 10n ** 10n)
  assert.ok((await reader.estimateMaxPriorityFeePerGas()) > 0n)
  const history = await reader.getFeeHistory({ blockCount: 4, rewardPercentiles: [25, 75] })
  assert.ok(history.baseFeePerGas.every((fee) => fee === 10_000_000n))
  assert.equal((await reader.getTransaction({ hash })).from.toLowerCase(), SENDER.address.toLowerCase())
  assert.equal(await reader.getTransactionCount({ address: SENDER.address }), 1)
})

test('a deployment of 24,000 bytes with a gas limit of 900 million passes', async () => {
  const chain = await createTestChain()
  const fees = { gas: 900_000_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n }
  // Stores 24,000 zero bytes as code.
  const raw = await SENDER.signTransaction({
    type: 'eip1559',
    chainId: CHAIN_ID,
    nonce: 0,
    data: '0x615dc06000f3',
    ...fees,
  })
  const hash = await chain.request('eth_sendRawTransaction', [raw])
  await chain.mine()
  const receipt = await chain.request<{ status: Hex; contractAddress: Hex }>('eth_getTransactionReceipt', [hash])
  assert.equal(receipt.status, '0x1')
  assert.equal((await chain.request<Hex>('eth_getCode', [receipt.contractAddress, 'latest'])).length, 2 + 2 * 24_000)
})

test('the timer mines by itself until stop, and blockMs 0 never does', async () => {
  const chain = await createTestChain({ blockMs: 1 })
  const tenth = new Promise<void>((resolve) => chain.onBlock(({ number }) => number === 10 && resolve()))
  chain.start()
  chain.start()
  await tenth
  await chain.stop()
  const { number } = chain.head()
  for (let mined = 0; mined < 20; mined += 1) await chain.mine()
  assert.equal(chain.head().number, number + 20)
  const still = await createTestChain({ blockMs: 0 })
  still.start()
  await still.mine()
  assert.equal(still.head().number, 1)
})

test('whatever params come in, an answer comes out and the chain goes on', async () => {
  const chain = await createTestChain({ report: () => undefined })
  const methods =
    'eth_call eth_estimateGas eth_getLogs eth_getBalance eth_getBlockByNumber eth_getBlockReceipts eth_feeHistory eth_getStorageAt ' +
    'eth_sendRawTransaction evm_revert hardhat_setBalance hardhat_setCode hardhat_setNonce evm_increaseTime bezel_reorg ' +
    'bezel_reorgFrom evm_setNextBlockTimestamp hardhat_dropTransaction debug_traceTransaction no_such_method'
  const text = fc.oneof(
    fc.constantFrom(
      '0x',
      '0x0',
      '0x1',
      '0xffffffffffffffff',
      `0x${'f'.repeat(64)}`,
      'latest',
      'pending',
      EMITTER,
      SENDER.address,
    ),
    fc.string(),
  )
  const call = fc.record(
    { to: text, from: text, data: text, gas: text, value: text, blockHash: text, address: text },
    { requiredKeys: [] },
  )
  const param = fc.oneof(text, fc.integer(), call, fc.jsonValue({ maxDepth: 2 }))
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...methods.split(' ')),
      fc.array(param, { maxLength: 4 }),
      async (method, params) => {
        const answer = JSON.parse(await chain.answer(method, params)) as {
          result?: unknown
          error?: { code: number; message: string }
        }
        assert.ok(
          'result' in answer || (typeof answer.error?.code === 'number' && answer.error.code !== -32603),
          JSON.stringify(answer),
        )
      },
    ),
    { numRuns: 400 },
  )
  const { number } = chain.head()
  await chain.mine()
  assert.equal(chain.head().number, number + 1)
})

test('params nested too deep are refused', async () => {
  const chain = await createTestChain()
  const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as unknown[]
  await assert.rejects(chain.request('eth_getBalance', deep), { code: -32602 })
})
