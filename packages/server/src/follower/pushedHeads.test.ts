import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { listBlocks } from '../store/blockStore.ts'
import { depthFinality } from '../chain/finality.ts'
import type { FollowerClient } from '../chain/providers/followerClient.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import { createPushedHeads, parseHeadMessage } from './pushedHeads.ts'
import { describeStore } from './testing/describeStore.ts'
import type { FakeTransaction } from './testing/fakeNode.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import { AGENT, attempt, attemptId, BOB, CHAIN, DIAMOND, orderRecord, requested } from './testing/handMade.ts'

const MARKETS = chainMarkets()
const LOOK_MS = 10_000

describe('a pushed head', () => {
  const text = (result: unknown): string => JSON.stringify({ method: 'eth_subscription', params: { result } })

  it('is only a wake-up where a field is missing or garbled', async () => {
    const { node, opened } = await openFollowedFake()
    node.mine()
    const whole = (JSON.parse(node.headMessage()) as { params: { result: Record<string, unknown> } }).params.result
    assert.deepEqual(parseHeadMessage(node.headMessage()), parseHeadMessage(text({ ...whole, gasUsed: 'unknown' })))
    for (const field of ['number', 'hash', 'parentHash', 'timestamp', 'logsBloom']) {
      for (const value of [undefined, null, 7, 'garbage', '0x0g']) {
        assert.equal(parseHeadMessage(text({ ...whole, [field]: value })), 'unreadable', `${field}: ${value}`)
      }
    }
    for (const result of [undefined, null, [], 'head']) assert.equal(parseHeadMessage(text(result)), 'unreadable')
    assert.equal(parseHeadMessage('{"jsonrpc":"2.0","id":1,"result":"0x1"}'), 'unreadable')
    await opened.remove()
  })

  it('is none in an error and in what is no JSON object', () => {
    for (const message of ['{"id":1,"error":{"code":-32601}}', '', 'null', '7', '{"a":']) {
      assert.equal(parseHeadMessage(message), undefined, message)
    }
  })

  it('waits in a queue that asks the node once it has run full', () => {
    const heads = createPushedHeads(() => true)
    for (let i = 0; i < 65; i += 1) heads.push('unreadable')
    heads.take()
    assert.equal(heads.take(), undefined)
  })
})

describe('following pushed heads', () => {
  let fake: FollowedFake
  let heads: ReturnType<typeof createPushedHeads>
  let isUp: boolean
  let silences: number

  beforeEach(async () => {
    isUp = true
    silences = 0
    heads = createPushedHeads(
      () => isUp,
      () => (silences += 1),
    )
    fake = await openFollowedFake({ heads, finality: depthFinality(64) })
    for (let i = 0; i < 3; i += 1) fake.node.mine()
    await fake.follow()
    fake.node.batches.length = 0
  })
  afterEach(() => fake.opened.remove())

  /** Mines a block and pushes its head. */
  function push(...transactions: readonly FakeTransaction[]): Hex {
    const hash = fake.node.mine(...transactions)
    tell()
    return hash
  }

  function tell(number?: number): void {
    heads.push(parseHeadMessage(fake.node.headMessage(number))!)
  }

  const at = () => fake.following.head()?.number
  const calls = () => fake.node.batches.map((methods) => methods.length)
  const describeNow = () => describeStore(fake.opened.store, CHAIN, { withRequests: true })

  /** Compares with a follower that asks for every block of the same chain. */
  async function assertSameAsAsking(): Promise<void> {
    const asking = await openFollowedFake({ client: fake.node.client })
    await asking.follow()
    assert.deepEqual(await describeNow(), await describeStore(asking.opened.store, CHAIN, { withRequests: true }))
    await asking.opened.remove()
  }

  it('costs no call for blocks without logs, however many come at once', async () => {
    for (let i = 0; i < 40; i += 1) push({ from: BOB, to: AGENT })
    await fake.follow()
    assert.equal(at(), 42)
    assert.deepEqual(calls(), [])
    const kept = await listBlocks(fake.opened.store.read, CHAIN)
    assert.equal(kept[0]?.parentHash, kept[1]?.hash, 'and stores each of them')
  })

  it('reads a block with logs in one round trip', async () => {
    push()
    push({ from: BOB, events: [requested()] })
    push()
    await fake.follow()
    assert.equal(at(), 5)
    assert.deepEqual(fake.node.batches, [['eth_getBlockByNumber', 'eth_getLogs']])
    await assertSameAsAsking()
  })

  it('asks the node after a gap, for a fork, and for a head that can not be read', async () => {
    fake.node.mine({ from: BOB, events: [requested()] })
    push()
    await fake.follow()
    assert.equal(at(), 4)
    fake.node.rewind(2)
    push()
    push({ from: BOB, events: [requested({ index: 1 })] })
    push()
    await fake.follow()
    assert.equal(at(), 5)
    fake.node.mine()
    heads.push('unreadable')
    await fake.follow()
    assert.equal(at(), 6)
    await assertSameAsAsking()
  })

  it('makes no block final by heads alone: it looks at the node first, and leaves heads that never were', async () => {
    await fake.restart({ finality: depthFinality(16) })
    await fake.follow()
    const hostile = await openFollowedFake()
    for (let i = 0; i < 4; i += 1) hostile.node.mine()
    hostile.node.rewind(1)
    // Heads on top of the true chain, more than the 16 that make a block final. The node has other blocks there.
    for (let i = 0; i < 30; i += 1) {
      hostile.node.mine()
      heads.push(parseHeadMessage(hostile.node.headMessage())!)
    }
    for (let i = 0; i < 5; i += 1) fake.node.mine({ from: BOB, events: [requested({ index: i })] })
    await fake.follow()
    await hostile.opened.remove()
    assert.equal(at(), fake.node.head())
    await assertSameAsAsking()
  })

  it('leaves a fork that is shorter than the followed chain', async () => {
    for (let i = 0; i < 4; i += 1) push()
    await fake.follow()
    fake.node.rewind(3)
    push({ from: BOB, events: [requested()] })
    await fake.follow()
    assert.equal(at(), 4)
    await assertSameAsAsking()
  })

  it('passes over heads that it has already', async () => {
    push()
    push()
    await fake.follow()
    tell(3)
    tell(4)
    await fake.follow()
    assert.deepEqual([at(), calls()], [4, []])
  })

  it('looks at the node at intervals, so that a dead subscription is noticed', async () => {
    fake.node.mine({ from: BOB, events: [requested()] })
    await fake.follow()
    assert.deepEqual([at(), calls()], [2, []])
    fake.nowMs += LOOK_MS
    await fake.follow()
    assert.equal(at(), 3)
    fake.node.batches.length = 0
    fake.nowMs += LOOK_MS
    await fake.follow()
    assert.equal(calls()[0], 3, 'two headers, and the logs once more')
  })

  it('takes a subscription for dead when three looks in a row find blocks that were not pushed', async () => {
    const lookAfter = async (...blocks: (() => unknown)[]): Promise<number> => {
      for (const block of blocks) block()
      await fake.follow()
      fake.nowMs += LOOK_MS
      await fake.follow()
      return silences
    }
    const mine = () => fake.node.mine()
    for (let i = 0; i < 5; i += 1) assert.equal(await lookAfter(), 0, 'a chain without blocks is quiet')
    assert.deepEqual([await lookAfter(mine), await lookAfter(mine)], [0, 0])
    assert.equal(await lookAfter(push, mine), 0, 'a head came')
    assert.deepEqual([await lookAfter(mine), await lookAfter(mine)], [0, 1])
    isUp = false
    for (let i = 0; i < 5; i += 1) assert.equal(await lookAfter(mine), 1, 'there is no subscription')
  })

  it('asks at every step while the socket is away', async () => {
    isUp = false
    fake.node.mine()
    await fake.follow()
    assert.equal(at(), 3)
  })

  it('does not follow a block that the asked node does not have yet', async () => {
    push({ from: BOB, events: [requested()] })
    fake.node.shown = 2
    await fake.follow()
    assert.equal(at(), 2)
    fake.node.shown = undefined
    push()
    await fake.follow()
    assert.equal(at(), 4)
    await assertSameAsAsking()
  })

  it('finds a transaction that failed while one is prepared that was not reported', async () => {
    const prepared = attempt(attemptId('01'))
    const id = await fake.prepare(orderRecord(1), { ...prepared, expiresAtMs: fake.nowMs + 1_000 })
    push({ from: AGENT, input: prepared.calldata, isReverted: true })
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'rejected')
    assert.deepEqual(fake.node.batches, [['eth_getBlockByNumber']], 'and no logs, which the filter rules out')
    fake.nowMs += 70_000
    await fake.follow()
    fake.node.batches.length = 0
    push({ from: BOB })
    await fake.follow()
    assert.deepEqual(calls(), [], 'and asks for nothing once it can not be sent any more')
  })

  it('applies a block again whose logs a bloom filter hid, and trusts no filter after that', async () => {
    const missed: number[] = []
    await fake.restart({ onMissedLogs: (block) => missed.push(block) })
    await fake.follow()
    const liar = (text: string): string => text.replace(/"0x(ff)+"/, `"0x${'00'.repeat(256)}"`)
    fake.node.mine({ from: BOB, events: [requested()] })
    heads.push(parseHeadMessage(liar(fake.node.headMessage()))!)
    push()
    await fake.follow()
    assert.deepEqual([at(), (await describeNow()).orders.length], [4, 0])
    fake.nowMs += LOOK_MS
    await fake.follow()
    assert.deepEqual([at(), (await describeNow()).orders.length, missed], [4, 1, [3]])
    fake.node.mine({ from: BOB, events: [requested({ index: 1 })] })
    heads.push(parseHeadMessage(liar(fake.node.headMessage()))!)
    await fake.follow()
    assert.equal((await describeNow()).orders.length, 2)
    await assertSameAsAsking()
  })

  it('proves the logs of all its blocks behind a plan that gives those of ten at once', async () => {
    fake.node.maxRange = 10
    // A filter of nothing hides the logs of this block.
    fake.node.mine({ from: BOB, events: [requested()] })
    heads.push(parseHeadMessage(fake.node.headMessage().replace(/"0x(ff)+"/, `"0x${'00'.repeat(256)}"`))!)
    for (let i = 0; i < 30; i += 1) push()
    await fake.follow()
    assert.deepEqual([at(), (await describeNow()).orders.length], [33, 0])
    fake.nowMs += LOOK_MS
    await fake.follow()
    assert.deepEqual([at(), (await describeNow()).orders.length], [33, 1])
    fake.nowMs += LOOK_MS
    await fake.follow()
    for (let i = 0; i < 30; i += 1) push()
    await fake.follow()
    fake.node.batches.length = 0
    fake.nowMs += LOOK_MS
    await fake.follow()
    assert.deepEqual(calls().slice(0, 2), [2, 3], 'no refused call any more, and three for 30 blocks')
  })
})

describe('following without pushed heads', () => {
  let fake: FollowedFake
  beforeEach(async () => {
    fake = await openFollowedFake()
    for (let i = 0; i < 3; i += 1) fake.node.mine()
    await fake.follow()
  })
  afterEach(() => fake.opened.remove())

  it('applies blocks again whose logs the node had left out', async () => {
    fake.node.hidesLogs = true
    fake.node.mine({ from: BOB, events: [requested()] })
    fake.node.mine()
    await fake.follow()
    fake.node.hidesLogs = false
    fake.node.mine()
    await fake.follow()
    const asking = await openFollowedFake({ client: fake.node.client })
    await asking.follow()
    assert.deepEqual(
      await describeStore(fake.opened.store, CHAIN, { withRequests: true }),
      await describeStore(asking.opened.store, CHAIN, { withRequests: true }),
    )
    assert.equal(fake.following.stats().blocksUndone, 1, 'the newest of them: the others are not stored')
    await asking.opened.remove()
  })

  it('asks again when the node leaves out logs that it gave before', async () => {
    fake.node.mine({ from: BOB, events: [requested()] })
    await fake.follow()
    fake.node.mine()
    fake.node.hidesLogs = true
    await assert.rejects(fake.following.step(MARKETS), NodeUnavailableError)
    assert.equal(fake.following.head()?.number, 3)
  })

  it('undoes what a reported failure told of a block that was passed over', async () => {
    const prepared = { ...attempt(attemptId('01')), expiresAtMs: fake.nowMs - 100_000 }
    const id = await fake.prepare(orderRecord(1), prepared)
    const hash = `0x${'77'.repeat(32)}` as Hex
    fake.node.mine({ from: AGENT, to: DIAMOND, hash, isReverted: true })
    fake.node.mine()
    await fake.follow()
    await fake.report(id, attemptId('01'), hash)
    fake.node.mine()
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'rejected')
    fake.node.rewind(3)
    for (let i = 0; i < 4; i += 1) fake.node.mine()
    await fake.follow()
    assert.notEqual((await fake.order(id)).state?.status, 'rejected')
  })

  it('asks in parts once it knows the plan, by a refusal or by the setting', async () => {
    const looksAt = async (client: RpcClient & Partial<FollowerClient>): Promise<number[][]> => {
      await fake.restart({ client })
      await fake.follow()
      const looks: number[][] = []
      for (let look = 0; look < 2; look += 1) {
        for (let i = 0; i < 15; i += 1) fake.node.mine()
        fake.node.batches.length = 0
        await fake.following.step(MARKETS)
        looks.push(calls())
      }
      return looks
    }
    const calls = (): number[] => fake.node.batches.map((methods) => methods.length)
    fake.node.maxRange = 100
    const wide = await looksAt(fake.node.client)
    fake.node.maxRange = 10
    const learnt = await looksAt(fake.node.client)
    const set = await looksAt({ ...fake.node.client, logRange: () => 10 })
    assert.deepEqual(wide, [[3], [3]], 'in one round trip where all are given at once')
    assert.deepEqual(
      learnt,
      [
        [3, 2],
        [2, 3],
      ],
      'the new blocks after a refusal, and those of the look before too',
    )
    assert.deepEqual(set, [
      [2, 2],
      [2, 3],
    ])
    assert.equal(fake.following.head()?.number, fake.node.head())
  })

  it('reads ranges of their own where the node refuses the logs up to its newest block', async () => {
    const { batch } = fake.node.client
    const refusing: RpcClient['batch'] = async (calls) =>
      (await batch(calls)).map((outcome, i) =>
        calls[i]?.method === 'eth_getLogs' && JSON.stringify(calls[i].params).includes('latest')
          ? { ok: false, code: -32005, message: 'too many blocks', data: undefined }
          : outcome,
      )
    await fake.restart({ client: { batch: refusing, roundTrips: () => 0 } })
    for (let i = 0; i < 5; i += 1) fake.node.mine({ from: BOB, events: [requested({ index: i })] })
    await fake.follow()
    assert.equal(fake.following.head()?.number, 7)
    assert.equal((await describeStore(fake.opened.store, CHAIN, { withRequests: true })).orders.length, 5)
  })
})
