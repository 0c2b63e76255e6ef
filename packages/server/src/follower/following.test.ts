import { StoreUnavailableError, NodeUnavailableError } from '../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Hex, OrderId } from '@bezel/protocol'
import { chainMarkets } from '../market/testing/fixtures.ts'
import type { Store } from '../store/sql.ts'
import { readLastBlock, listBlocks } from '../store/blockStore.ts'
import type { RpcCall, RpcClient } from '../chain/rpcClient.ts'
import { ReorgTooDeepError } from './leaveFork.ts'
import { createAwaitedHashes, type AwaitedHash } from './readReported.ts'
import { describeStore } from './testing/describeStore.ts'
import { createFakeNode } from './testing/fakeNode.ts'
import { openFollowedFake, SERVED, type FollowedFake } from './testing/followedFake.ts'
import {
  AGENT,
  attempt,
  attemptId,
  BOB,
  CHAIN,
  DIAMOND,
  executed,
  feesProcessed,
  ORACLE,
  orderRecord,
  requested,
  stored,
  tradeClosed,
  txHash,
} from './testing/handMade.ts'
import { numberToHex } from 'viem'
import type { AttemptId } from '../trading/orders/orderModel.ts'

const hashOf = (n: number): Hex => numberToHex(n, { size: 32 }) as Hex
const idOf = (n: number): AttemptId => numberToHex(n, { size: 8 }) as AttemptId

const MARKETS = chainMarkets()
const REFUSED = { ok: false, code: 4444, message: 'pruned history unavailable', data: undefined } as const

describe('following a chain', () => {
  let fake: FollowedFake
  beforeEach(async () => {
    fake = await openFollowedFake()
  })
  afterEach(() => fake.opened.remove())

  const describeNow = () => describeStore(fake.opened.store, CHAIN, { withRequests: true })

  /** Mines four blocks: requested, opened, close requested, closed. */
  function trade(pendingIndex = 0, index = 0): void {
    const close = requested({ index: pendingIndex + 1, orderType: 1, trade: { index } })
    fake.node.mine({ from: BOB, events: [requested({ index: pendingIndex })] })
    fake.node.mine({
      from: ORACLE,
      events: [stored({ index }), feesProcessed(), executed({ pendingIndex, trade: { index } })],
    })
    fake.node.mine({ from: BOB, events: [close] })
    fake.node.mine({
      from: ORACLE,
      events: [
        feesProcessed(1),
        tradeClosed(index),
        executed({ pendingIndex: pendingIndex + 1, open: false, trade: { index }, percentProfit: -5n * 10n ** 10n }),
      ],
    })
  }

  it('takes two round trips for all that is new, and one while nothing is', async () => {
    trade()
    await fake.follow()
    fake.node.batches.length = 0
    trade(2, 1)
    for (let i = 0; i < 30; i += 1) fake.node.mine()
    assert.equal(await fake.following.step(MARKETS), false)
    assert.equal(fake.following.head()?.number, 37)
    assert.deepEqual(
      fake.node.batches.map((methods) => methods.length),
      [3, 4],
      'both headers and all logs, then the four blocks with logs',
    )
    assert.equal(await fake.following.step(MARKETS), false)
    assert.equal(fake.node.batches.length, 3)
  })

  it('gives the whole story of a trade in one block too', async () => {
    trade()
    await fake.follow()
    const spread = await describeNow()
    assert.equal(spread.fills.length, 2)
    assert.deepEqual(spread.orders.map((order) => (order as { state: { status: string } }).state.status).toSorted(), [
      'filled',
      'filled',
    ])
    fake.node.mine({
      from: BOB,
      events: [
        requested({ index: 2 }),
        stored({ index: 1 }),
        executed({ pendingIndex: 2, trade: { index: 1 } }),
        requested({ index: 3, orderType: 1, trade: { index: 1 } }),
        tradeClosed(1),
        executed({ pendingIndex: 3, open: false, trade: { index: 1 } }),
      ],
    })
    await fake.follow()
    const all = await describeNow()
    assert.equal(all.orders.length, 4)
    assert.equal(all.fills.length, 4)
    const [change] = fake.commits.at(-1)!.positions
    assert.deepEqual(
      [change?.before, change?.after?.isOpen],
      [undefined, false],
      'one change, though it was folded twice',
    )
  })

  it('says the same after every reorganisation as a follower of the new chain alone', async () => {
    for (let depth = 1; depth <= 4; depth += 1) {
      trade(10 * depth, 10 * depth)
      await fake.follow()
      fake.node.rewind(depth)
      fake.node.mine({ from: BOB })
      trade(10 * depth + 4, 10 * depth + 1)
      await fake.follow()
      const fresh = await openFollowedFake({ client: fake.node.client })
      await fresh.follow()
      assert.deepEqual(await describeNow(), await describeStore(fresh.opened.store, CHAIN, { withRequests: true }))
      await fresh.opened.remove()
    }
    assert.ok(fake.commits.some(({ cause }) => cause.isReorg))
    assert.equal(fake.following.stats().blocksUndone, 10)
  })

  it('undoes exactly what a block did', async () => {
    fake.node.mine()
    await fake.follow()
    const before = await describeNow()
    trade()
    await fake.follow()
    fake.node.rewind(4)
    const last = fake.following.head()
    await fake.follow()
    assert.deepEqual(fake.following.head(), last, 'a node that lost blocks is behind until it has others')
    for (let i = 0; i < 5; i += 1) fake.node.mine()
    await fake.follow()
    const { orders, positions, fills } = await describeNow()
    assert.deepEqual(
      { orders, positions, fills },
      { orders: before.orders, positions: before.positions, fills: before.fills },
    )
  })

  it('undoes a timeout together with the block that it came with', async () => {
    await fake.restart({ timeoutBlocks: () => 10 })
    fake.node.mine()
    const id = await fake.prepare(orderRecord(1), attempt(attemptId('01')))
    fake.node.mine({ from: BOB, input: attempt(attemptId('01')).calldata, events: [requested()] })
    for (let i = 0; i < 10; i += 1) fake.node.mine()
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'timed_out')
    const timedOutAtMs = fake.following.head()!.timestampMs
    assert.equal((await fake.order(id)).state?.updatedAtMs, timedOutAtMs, 'the time of the block at which it was due')
    for (let i = 0; i < 2; i += 1) fake.node.mine()
    await fake.follow()
    assert.equal((await fake.order(id)).state?.updatedAtMs, timedOutAtMs, 'which does not move any more')
    fake.node.rewind(8)
    fake.node.mine()
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'pending')
    assert.equal((await fake.order(id)).state?.dueBlock, 11)
    for (let i = 0; i < 5; i += 1) fake.node.mine()
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'timed_out')
  })

  it('leaves a shorter fork at once when the node shows another block of the same number', async () => {
    for (let i = 0; i < 6; i += 1) fake.node.mine()
    await fake.follow()
    fake.node.rewind(4)
    fake.node.mine()
    await fake.follow()
    assert.equal(fake.following.head()?.number, 2)
  })

  it('stops at a reorganisation deeper than what is kept, and goes on when the node comes back to the chain', async () => {
    for (let i = 0; i < 40; i += 1) fake.node.mine()
    await fake.follow()
    const kept = await listBlocks(fake.opened.store.read, CHAIN)
    assert.deepEqual(
      kept.map(({ number }) => number),
      [39, 15],
      'the newest one, and the last final one of those that are stored',
    )
    const head = fake.following.head()
    const other = await openFollowedFake()
    for (let i = 0; i < 42; i += 1) other.node.mine({ from: BOB })
    other.node.rewind(42)
    for (let i = 0; i < 42; i += 1) other.node.mine({ from: BOB })
    await fake.restart({ client: other.node.client })
    await assert.rejects(fake.follow(), ReorgTooDeepError)
    assert.deepEqual(fake.following.head(), head)
    await fake.restart()
    fake.node.mine()
    await fake.follow()
    assert.equal(fake.following.head()?.number, 40)
    await other.opened.remove()
  })

  it('catches up by ranges of logs, narrower ones when the node refuses', async () => {
    fake.node.mine()
    for (let i = 0; i < 8; i += 1) {
      trade(2 * i, i)
      for (let empty = 0; empty < 30; empty += 1) fake.node.mine()
    }
    const byBlock = await openFollowedFake({ client: fake.node.client })
    const top = fake.node.head()
    for (let head = 0; head <= top; head += 1) {
      fake.node.shown = head
      await byBlock.follow()
    }
    fake.node.shown = undefined
    fake.node.batches.length = 0
    fake.node.maxRange = 50
    await fake.follow()
    assert.deepEqual(await describeNow(), await describeStore(byBlock.opened.store, CHAIN, { withRequests: true }))
    const ranges = fake.node.batches.filter((methods) => methods.length === 4 && methods.includes('eth_getLogs'))
    assert.ok(ranges.length >= 5)
    await byBlock.opened.remove()
  })

  it('does not take the logs of a node that is behind for all of a range', async () => {
    const behind = createFakeNode(DIAMOND, SERVED.chainId)
    for (let i = 0; i < 160; i += 1) {
      const traded = { from: BOB, events: i === 30 ? [requested()] : [] }
      fake.node.mine(traded)
      if (i <= 20) behind.mine(traded)
    }
    const isRange = ({ method, params }: RpcCall): boolean => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: Hex; toBlock?: Hex }
      return method === 'eth_getLogs' && fromBlock !== toBlock
    }
    const batch: RpcClient['batch'] = (calls) => (calls.some(isRange) ? behind : fake.node).client.batch(calls)
    await fake.restart({ client: { batch, roundTrips: () => 0 } })
    await assert.rejects(fake.follow(), NodeUnavailableError)
    assert.equal(fake.following.head(), undefined)
    // The head can come from another node than the logs.
    behind.lies.set('eth_blockNumber', numberToHex(159))
    await assert.rejects(fake.follow(), NodeUnavailableError)
    assert.equal(fake.following.head(), undefined)
    await fake.restart()
    await fake.follow()
    assert.equal((await describeNow()).orders.length, 1)
  })

  it('goes on while the node refuses or garbles the receipt of a reported hash', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(attemptId('01')))
    await fake.report(id, attemptId('01'), txHash('66'))
    const unmined = { transactionHash: txHash('66'), blockHash: null, blockNumber: null, transactionIndex: null }
    for (const receipt of [{ ...unmined, status: '0x1' }, {}, 'garbage', undefined]) {
      fake.node.lies.set('eth_getTransactionReceipt', receipt)
      fake.node.mine()
      await fake.follow()
      assert.equal(fake.following.head()?.number, fake.node.head())
    }
    const refusing: RpcClient['batch'] = async (calls) =>
      (await fake.node.client.batch(calls)).map((outcome, i) =>
        calls[i]?.method === 'eth_getTransactionReceipt' ? REFUSED : outcome,
      )
    await fake.restart({ client: { batch: refusing, roundTrips: () => 0 } })
    fake.node.mine()
    await fake.follow()
    assert.equal(fake.following.head()?.number, fake.node.head())
    assert.equal((await fake.order(id)).state?.status, 'pending')
  })

  it('begins at the block it is told to', async () => {
    for (let i = 0; i < 5; i += 1) fake.node.mine()
    trade()
    await fake.restart({ startBlock: 5 })
    await fake.follow()
    assert.equal((await describeNow()).orders.length, 2)
  })

  it('makes an order for a position whose request it never saw', async () => {
    fake.node.mine({ from: BOB, events: [requested()] })
    fake.node.mine({ from: ORACLE, events: [stored(), feesProcessed(), executed()] })
    await fake.restart({ startBlock: 1 })
    await fake.follow()
    assert.equal((await describeNow()).positions.length, 1)
  })

  it('asks by block hash for logs that must be there', async () => {
    fake.node.hidesLogs = true
    trade()
    await fake.follow()
    assert.equal((await describeNow()).fills.length, 2)
  })

  it('goes on from the stored cursor after a restart', async () => {
    trade()
    await fake.following.step(MARKETS)
    await fake.restart()
    await fake.follow()
    assert.equal(fake.following.head()?.number, 3)
    assert.equal((await describeNow()).fills.length, 2)
  })

  it('keeps everything as it is while the node is away or answers garbage', async () => {
    trade()
    await fake.follow()
    const before = await describeNow()
    trade(2, 1)
    fake.node.isAway = true
    await assert.rejects(fake.follow(), NodeUnavailableError)
    fake.node.isAway = false
    for (const method of ['eth_getBlockByNumber', 'eth_getLogs']) {
      for (const garbage of ['0x', 'garbage', {}, [{}], 7, undefined, [null], { number: '0x1' }]) {
        fake.node.lies.set(method, garbage)
        await assert.rejects(fake.follow(), NodeUnavailableError, `${method} -> ${JSON.stringify(garbage)}`)
        fake.node.lies.clear()
      }
    }
    assert.deepEqual(await describeNow(), before)
    await fake.follow()
    assert.equal(fake.following.head()?.number, 7)
  })

  describe('with a log that is not as the ABI says', () => {
    let undecoded: string[]

    beforeEach(async () => {
      undecoded = []
      await fake.restart({
        onApplied: async (blocks) => {
          for (const { transactions } of blocks) undecoded.push(...transactions.flatMap((one) => one.undecoded))
        },
      })
      fake.node.mine()
      await fake.follow()
      const hash = fake.node.mine({ from: BOB, events: [requested()] })
      const [outcome] = await fake.node.client.batch([{ method: 'eth_getLogs', params: [{ blockHash: hash }] }])
      const [log] = (outcome as { result: Record<string, unknown>[] }).result
      fake.node.lies.set('eth_getLogs', [{ ...log, data: '0x00' as Hex }])
      await assert.rejects(fake.follow(), NodeUnavailableError)
      assert.equal(fake.following.head()?.number, 0)
    })

    it('believes the node that answers better when it is asked again', async () => {
      fake.node.lies.clear()
      await fake.follow()
      assert.deepEqual([(await describeNow()).orders.length, undecoded], [1, []])
    })

    it('passes over the log when the answer stays, and tells so', async () => {
      await fake.follow()
      assert.equal(fake.following.head()?.number, 1)
      assert.deepEqual([(await describeNow()).orders.length, undecoded], [0, ['PendingOrderStored']])
    })
  })

  it('applies a block once or not at all when the store fails in the middle', async () => {
    trade()
    const reference = await openFollowedFake({ client: fake.node.client })
    await reference.follow()
    let calls = 0
    for (let failAt = 1; failAt < 400; failAt += 1) {
      calls = 0
      const store = failing(fake.opened.store, () => (calls += 1) === failAt)
      await fake.restart({ store })
      try {
        await fake.follow()
        break
      } catch (error) {
        assert.ok(error instanceof StoreUnavailableError)
        const cursor = await readLastBlock(fake.opened.store.read, CHAIN)
        assert.deepEqual(cursor, fake.following.head())
      }
    }
    assert.deepEqual(await describeNow(), await describeStore(reference.opened.store, CHAIN, { withRequests: true }))
    await reference.opened.remove()
  })
})

/** Returns a store in which one statement of a transaction fails. */
function failing(store: Store, isDue: () => boolean): Store {
  return {
    ...store,
    transaction: (scope, work) =>
      store.transaction(scope, (sql) =>
        work({
          ...sql,
          all: (...args) => (isDue() ? Promise.reject(new StoreUnavailableError('full')) : sql.all(...args)),
          get: (...args) => (isDue() ? Promise.reject(new StoreUnavailableError('full')) : sql.get(...args)),
          run: (...args) => (isDue() ? Promise.reject(new StoreUnavailableError('full')) : sql.run(...args)),
        }),
      ),
  }
}

describe('reported hashes that are asked about', () => {
  let fake: FollowedFake
  let ask: () => Promise<AwaitedHash[]>
  beforeEach(async () => {
    fake = await openFollowedFake()
    ask = createAwaitedHashes({ store: fake.opened.store, chain: SERVED, now: () => fake.nowMs })
  })
  afterEach(() => fake.opened.remove())

  const seen = (n: number): AwaitedHash => ({ hash: hashOf(n), isUnseen: false })

  async function reported(n: number, hash: Hex): Promise<OrderId> {
    const id = await fake.prepare(orderRecord(1), attempt(idOf(n)))
    await fake.report(id, idOf(n), hash)
    return id
  }

  it('are the last two of an order, however many it had', async () => {
    const attempts = Array.from({ length: 40 }, (_, n) =>
      attempt(idOf(n), { submittedHash: hashOf(n), submittedAtMs: 1_800_000_000_000 + n }),
    )
    await fake.prepare(orderRecord(1), ...attempts.toReversed())
    assert.deepEqual(await ask(), [seen(38), seen(39)])
  })

  it('are those of some orders at a time, and of all in turn', async () => {
    for (let n = 0; n < 40; n += 1) await reported(n, hashOf(n))
    const looks = [await ask(), await ask(), await ask()]
    assert.ok(looks.every((hashes) => hashes.length <= 30))
    assert.equal(new Set(looks.flat().map(({ hash }) => hash)).size, 40)
    assert.deepEqual(await ask(), looks[0])
  })

  it('are looked up too while no node knows them and their transaction is valid', async () => {
    const trusted = { submittedHash: hashOf(1), submittedAtMs: 1, trustedUntilMs: 5 }
    await fake.prepare(orderRecord(1), attempt(idOf(1), { ...trusted, expiresAtMs: fake.nowMs + 1_000 }))
    assert.deepEqual(await ask(), [{ hash: hashOf(1), isUnseen: true }])
    fake.nowMs += 1_000
    assert.deepEqual(await ask(), [seen(1)])
  })

  it('make a given-up order pending again once the node knows the transaction of its sender', async () => {
    const trusted = { submittedHash: hashOf(1), submittedAtMs: 1, trustedUntilMs: 5 }
    const id = await fake.prepare(orderRecord(1), attempt(idOf(1), trusted))
    const state = async () => (await fake.order(id)).state
    fake.node.mempool.set(hashOf(1), { from: BOB, input: '0x' as Hex })
    fake.node.mine()
    await fake.follow()
    assert.deepEqual([(await state())?.status, (await state())?.txHash], ['prepared', hashOf(1)])
    fake.node.mempool.set(hashOf(1), { from: AGENT, input: '0x' as Hex })
    fake.node.mine()
    await fake.follow()
    assert.deepEqual([(await state())?.status, (await state())?.updatedAtMs], ['pending', fake.nowMs])
    assert.deepEqual(await ask(), [seen(1)])
    // A node that refuses the lookup, or answers nonsense, does not hold up the block.
    const other = await fake.prepare(orderRecord(2), attempt(idOf(2), { ...trusted, submittedHash: hashOf(2) }))
    fake.node.lies.set('eth_getTransactionByHash', 17)
    fake.node.mine()
    await fake.follow()
    assert.equal((await fake.order(other)).state?.status, 'prepared')
    assert.equal(fake.following.head()?.number, fake.node.head())
  })

  it('still settle an order that was given up: by its receipt, reverted or mined as something else', async () => {
    for (const [n, isReverted] of [
      [1, true],
      [2, false],
    ] as const) {
      const trusted = { submittedHash: hashOf(n), submittedAtMs: 1, trustedUntilMs: 5 }
      const id = await fake.prepare(orderRecord(n), attempt(idOf(n), trusted))
      fake.node.mine({ from: AGENT, to: BOB, hash: hashOf(n), isReverted })
      await fake.follow()
      const state = (await fake.order(id)).state
      assert.deepEqual([state?.status, state?.txHash], isReverted ? ['rejected', hashOf(n)] : ['prepared', null])
    }
  })

  it('are asked about once when several orders have the same', async () => {
    await reported(1, hashOf(7))
    await reported(2, hashOf(7))
    assert.deepEqual(await ask(), [seen(7)])
  })
})
