import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { listBlocks } from '../store/blockStore.ts'
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

  beforeEach(async () => {
    isUp = true
    heads = createPushedHeads(() => isUp)
    fake = await openFollowedFake({ heads })
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
