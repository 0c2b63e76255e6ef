import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createChainHead } from '../journal/clock.ts'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { listBlocks, readLastBlock } from '../store/blockStore.ts'
import type { Following } from './createFollowing.ts'
import { CursorMovedError } from './cursor.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import { BOB, CHAIN, requested } from './testing/handMade.ts'

const MARKETS = chainMarkets()

describe('two followers of one store', () => {
  let fake: FollowedFake
  let first: Following
  let second: Following

  beforeEach(async () => {
    fake = await openFollowedFake()
    fake.node.mine({ from: BOB, events: [requested()] })
    await fake.follow()
    first = fake.following
    await fake.restart({ head: createChainHead() })
    second = fake.following
  })
  afterEach(() => fake.opened.remove())

  async function followAll(following: Following): Promise<void> {
    while (await following.step(MARKETS));
  }

  const cursor = () => readLastBlock(fake.opened.store.read, CHAIN)

  it('apply each block once: the one that comes late is told, reads the cursor again and goes on', async () => {
    fake.node.mine({ from: BOB, events: [requested({ index: 7 })] })
    await followAll(second)
    const commits = fake.commits.length
    await assert.rejects(followAll(first), CursorMovedError)
    assert.equal(fake.commits.length, commits)
    await first.open()
    await followAll(first)
    assert.equal(fake.commits.length, commits)
    fake.node.mine({ from: BOB })
    await followAll(first)
    assert.deepEqual(first.head(), await cursor())
    await assert.rejects(followAll(second), /another process follows this chain with the same store/)
  })

  it('undo no block that the other one has put in its place', async () => {
    fake.node.mine({ from: BOB, events: [requested({ index: 7 })] })
    await followAll(second)
    await first.open()
    fake.node.rewind(1)
    fake.node.mine({ from: BOB, events: [requested({ index: 8 })] })
    fake.node.mine()
    await followAll(second)
    const kept = await listBlocks(fake.opened.store.read, CHAIN)
    await assert.rejects(followAll(first), CursorMovedError)
    assert.deepEqual(await listBlocks(fake.opened.store.read, CHAIN), kept)
    await first.open()
    await followAll(first)
    assert.deepEqual(first.head(), await cursor())
  })
})
