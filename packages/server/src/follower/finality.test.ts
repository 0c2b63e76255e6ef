import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { numberToHex } from 'viem'
import { createFinality } from '../chain/finality.ts'
import { listBlocks } from '../store/blockStore.ts'
import { ReorgTooDeepError } from './leaveFork.ts'
import { describeStore } from './testing/describeStore.ts'
import { openFollowedFake, SERVED, type FollowedFake } from './testing/followedFake.ts'
import { BOB, CHAIN, requested } from './testing/handMade.ts'

describe('following a chain with the finalized tag', () => {
  let fake: FollowedFake
  let requests: number
  beforeEach(async () => {
    requests = 0
    fake = await openTagged()
  })
  afterEach(() => fake.opened.remove())

  /** Opens a follower by the tag; each of its steps asks for it. */
  async function openTagged(client?: FollowedFake['node']['client']): Promise<FollowedFake> {
    let nowMs = 0
    const chain = { slug: SERVED.slug, finality: 'tag' } as const
    const log = { warn: () => undefined } as never
    const finality = createFinality({ chain, now: () => (nowMs += 15_000), log })
    return openFollowedFake({ finality, ...(client !== undefined && { client }) })
  }

  function mine(count: number): void {
    for (let i = 0; i < count; i += 1) fake.node.mine()
  }

  /** Mines a block with a request of its own. */
  function mineRequest(): void {
    fake.node.mine({ from: BOB, events: [requested({ index: (requests += 1) })] })
  }

  async function keptFrom(): Promise<number | undefined> {
    return (await listBlocks(fake.opened.store.read, CHAIN)).at(-1)?.number
  }

  /** Compares the store with that of a follower that saw nothing but the node's present chain. */
  async function expectLikeNew(): Promise<void> {
    const fresh = await openTagged(fake.node.client)
    try {
      await fresh.follow()
      const [ours, theirs] = [fake, fresh].map(({ opened }) =>
        describeStore(opened.store, CHAIN, { withRequests: true }),
      )
      assert.deepEqual(await ours, await theirs)
    } finally {
      await fresh.opened.remove()
    }
  }

  it('keeps blocks until the node names them final', async () => {
    for (let i = 0; i < 100; i += 1) {
      mine(1)
      await fake.follow()
    }
    assert.equal(await keptFrom(), 0)
    fake.node.finalized = 40
    mine(1)
    await fake.follow()
    assert.equal(await keptFrom(), 40)
    fake.node.finalized = 30
    mine(1)
    await fake.follow()
    assert.equal(await keptFrom(), 40, 'which a tag that goes back does not change')
  })

  it('undoes down to the final block, and nothing below it', async () => {
    fake.node.finalized = 5
    mine(6)
    for (let i = 0; i < 150; i += 1) {
      if (i % 20 === 0) mineRequest()
      else mine(1)
      await fake.follow()
    }
    fake.node.rewind(150)
    mineRequest()
    mine(150)
    await fake.follow()
    assert.equal(fake.following.head()?.number, fake.node.head())
    await expectLikeNew()
    fake.node.finalized = 100
    mine(1)
    await fake.follow()
    fake.node.rewind(100)
    mine(110)
    await assert.rejects(fake.follow(), ReorgTooDeepError)
  })

  it('catches up by ranges far beyond the final block, and undoes what was read so', async () => {
    fake.node.finalized = 10
    mine(12)
    for (let i = 0; i < 30; i += 1) {
      mineRequest()
      mine(9)
    }
    await fake.follow()
    assert.equal(fake.following.head()?.number, 311)
    const numbers = (await listBlocks(fake.opened.store.read, CHAIN)).map(({ number }) => number)
    assert.ok(numbers.length < 120, 'most blocks have nothing and are not read')
    fake.node.rewind(200)
    mine(1)
    mineRequest()
    mine(230)
    await fake.follow()
    assert.equal(fake.following.head()?.number, fake.node.head())
    await expectLikeNew()
  })

  it('finds the way back from a reorganisation between the final block and the first one stored', async () => {
    fake.node.finalized = 50
    mine(200)
    await fake.follow()
    const [, oldest] = (await listBlocks(fake.opened.store.read, CHAIN)).map(({ number }) => number).toReversed()
    assert.ok(oldest !== undefined && oldest > 51)
    fake.node.rewind(140)
    mine(145)
    await assert.doesNotReject(fake.follow())
    assert.equal(fake.following.head()?.number, fake.node.head())
  })

  it('ends like a new follower after any reorganisations above what the node called final', async () => {
    const blocks = fc.array(fc.boolean(), { minLength: 1, maxLength: 90 })
    const deed = fc.record({ undone: fc.nat(150), blocks, advance: fc.nat(60), isRestart: fc.boolean() })
    const life = fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 6 }), async (deeds) => {
      fake = await openTagged()
      try {
        mine(1)
        let final = 0
        for (const { undone, blocks: mined, advance, isRestart } of deeds) {
          const depth = Math.min(undone, fake.node.head() - final)
          fake.node.rewind(depth)
          for (const isRequest of mined)
            if (isRequest) mineRequest()
            else mine(1)
          mine(Math.max(0, depth + 1 - mined.length))
          final = Math.min(fake.node.head(), final + advance)
          fake.node.finalized = final
          if (isRestart) await fake.restart()
          await fake.follow()
          assert.equal(fake.following.head()?.number, fake.node.head())
        }
        await expectLikeNew()
      } finally {
        await fake.opened.remove()
      }
    })
    await fake.opened.remove()
    await fc.assert(life, { numRuns: 15 })
    fake = await openTagged()
  })

  it('is not led astray by a node that calls its head, or a block that is not there, final', async () => {
    mine(100)
    fake.node.finalized = 99
    await fake.follow()
    for (const finalized of [101, 2 ** 40]) {
      mine(1)
      fake.node.finalized = finalized
      await fake.follow()
    }
    const json = { number: numberToHex(2 ** 40), hash: hash('1'), parentHash: hash('2'), timestamp: '0x1' }
    const { batch } = fake.node.client
    const lying: typeof batch = async (calls) =>
      (await batch(calls)).map((outcome, i) =>
        calls[i]?.params[0] === 'finalized'
          ? { ok: true, result: { ...json, logsBloom: `0x${'00'.repeat(256)}`, transactions: [] } }
          : outcome,
      )
    const believing = await openTagged({ batch: lying, roundTrips: () => 0 })
    await believing.follow()
    fake.node.rewind(7)
    mine(9)
    for (const { follow, following } of [believing, fake]) {
      await follow()
      assert.equal(following.head()?.number, fake.node.head())
    }
    await believing.opened.remove()
  })

  it('makes no more round trips than without the tag', async () => {
    const plain = await openFollowedFake()
    for (const { node, follow } of [plain, fake]) {
      for (let i = 0; i < 30; i += 1) {
        node.mine()
        await follow()
      }
    }
    assert.equal(fake.node.batches.length, plain.node.batches.length)
    const calls = fake.node.batches.flat().length - plain.node.batches.flat().length
    assert.equal(calls, fake.node.batches.length - 1, 'one call more in each but that of the first block')
    await plain.opened.remove()
  })
})

function hash(digit: string): string {
  return `0x${digit.repeat(64)}`
}
