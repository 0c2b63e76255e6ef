import type { Hex } from 'viem'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ChainLog, MinedBlock, NodeBlock } from './block.ts'
import type { LocalChain } from './createLocalChain.ts'
import { toQuantity } from './jsonRpc.ts'
import { EMITTER, SENDER, createTestChain, signEmit } from './testing/testChain.ts'

// A listener that adds the logs it gets and takes away the removed ones always has exactly the chain's logs.

type Step =
  | { kind: 'send' | 'mine' | 'snapshot' | 'revert' | 'readPending' }
  | { kind: 'mineMany'; blocks: number }
  | { kind: 'setBalance'; wei: number }
  | { kind: 'reorg'; depth: number; mode: 'drop' | 'remine' }

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('send' as const) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('mine' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mineMany' as const), blocks: fc.constantFrom(3, 70) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('snapshot' as const, 'revert' as const, 'readPending' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('setBalance' as const), wei: fc.nat(1_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 80 }),
      mode: fc.constantFrom('drop' as const, 'remine' as const),
    }),
  },
)

interface Follower {
  logs: Map<string, ChainLog>
  last: MinedBlock | undefined
}

function follow(chain: LocalChain): Follower {
  const follower: Follower = { logs: new Map(), last: undefined }
  const key = (log: ChainLog): string => `${log.blockHash} ${log.logIndex}`
  chain.onBlock((block) => {
    for (const log of block.removedLogs)
      assert.ok(follower.logs.delete(key(log)), 'a log was removed that was never told')
    for (const log of block.logs) {
      assert.equal(follower.logs.has(key(log)), false, 'a log was told twice')
      follower.logs.set(key(log), log)
    }
    follower.last = block
  })
  return follower
}

async function perform(chain: LocalChain, step: Step, snapshots: Hex[]): Promise<void> {
  if (step.kind === 'send') {
    const nonce = Number(await chain.request('eth_getTransactionCount', [SENDER.address, 'pending']))
    await chain.request('eth_sendRawTransaction', [await signEmit(nonce)])
  }
  if (step.kind === 'mine') await chain.mine()
  if (step.kind === 'mineMany') await chain.request('hardhat_mine', [step.blocks])
  if (step.kind === 'snapshot') snapshots.push(await chain.request<Hex>('evm_snapshot'))
  if (step.kind === 'revert') await chain.request('evm_revert', [snapshots.pop() ?? '0x0'])
  if (step.kind === 'readPending') await chain.request('eth_getBlockByNumber', ['pending', true])
  if (step.kind === 'setBalance') await chain.request('hardhat_setBalance', [EMITTER, toQuantity(step.wei)])
  if (step.kind === 'reorg') await chain.reorg(step.depth, step.mode).catch(expectTooDeep)
}

function expectTooDeep(error: Error): void {
  assert.match(error.message, /cannot replace/)
}

async function assertInStep(chain: LocalChain, follower: Follower): Promise<void> {
  const logs = await chain.request<ChainLog[]>('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
  assert.deepEqual(new Set(follower.logs.values()), new Set(logs))
  const head = await chain.request<NodeBlock>('eth_getBlockByNumber', ['latest', false])
  assert.equal(chain.head().hash, head.hash)
  if (follower.last !== undefined) assert.equal(follower.last.hash, head.hash)
  const count = Number(await chain.request('eth_getStorageAt', [EMITTER, '0x0', 'latest']))
  assert.equal(count, logs.length)
}

test('a listener stays in step with the chain through any sequence of sends, blocks, reorgs, snapshots and setters', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 40 }), async (steps) => {
      const faults: unknown[] = []
      const chain = await createTestChain({ report: (error) => faults.push(error) })
      const follower = follow(chain)
      const snapshots: Hex[] = []
      for (const step of steps) {
        await perform(chain, step, snapshots)
        await assertInStep(chain, follower)
      }
      assert.deepEqual(faults, [])
    }),
    { numRuns: Number(process.env['FOLLOW_RUNS'] ?? 40) },
  )
})
