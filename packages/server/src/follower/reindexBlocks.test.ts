import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { OrderId } from '@bezel/protocol'
import { listEvents } from '../store/accountEventStore.ts'
import { listFills } from '../store/fillStore.ts'
import { listOrders } from '../store/orderStore.ts'
import { listOpenPositions } from '../store/positionStore.ts'
import { insertReindex, listReindexes } from '../store/reindexStore.ts'
import { describeStore } from './testing/describeStore.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import { ALICE, CHAIN, ORACLE, executed, feesRealized, requested, stored, tradeClosed } from './testing/handMade.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const LAST_ID = '9007199254740991' as OrderId
const TOKENS = { positionSizeToken: 16_000_000_000_000_000n }

describe('blocks that are read again', () => {
  let fake: FollowedFake

  beforeEach(async () => {
    fake = await openFollowedFake()
    fake.node.mine({ from: ALICE, events: [requested()] })
    fake.node.mine({ from: ORACLE, events: [stored(), feesRealized(), executed()] })
    await fake.follow()
  })
  afterEach(() => fake.opened.remove())

  const read = () => fake.opened.store.read
  const statuses = async () =>
    (await listOrders(read(), CHAIN, ALICE, LAST_ID, 10)).map(({ state }) => state?.status).toReversed()
  const fills = async () =>
    (await listFills(read(), { chain: CHAIN, trader: ALICE, cursor: undefined, limit: 10 })).map(
      ({ fill }) => fill.action,
    )

  async function reindex(fromBlock: number, toBlock: number): Promise<number | undefined> {
    await fake.opened.store.transaction(TEST_SCOPE, (sql) => insertReindex(sql, { chain: CHAIN, fromBlock, toBlock }))
    for (let looks = 0; looks < 20; looks += 1) {
      fake.nowMs += 1_000
      await fake.follow()
      const last = (await listReindexes(read())).at(-1)
      if (last !== undefined && last.nextBlock > last.toBlock) return last.changed
    }
    return undefined
  }

  /** Mines a close that a node without its logs keeps from the follower, which then is restarted. */
  async function missClose(): Promise<void> {
    await fake.restart()
    fake.node.mine({ from: ALICE, events: [requested({ index: 1, orderType: 1 })] })
    fake.node.mine({
      from: ORACLE,
      events: [tradeClosed(), executed({ pendingIndex: 1, open: false, trade: TOKENS })],
    })
    fake.node.lies.set('eth_getLogs', [])
    await fake.follow()
    fake.node.lies.clear()
    await fake.restart()
  }

  const describeAll = async () => [
    await describeStore(fake.opened.store, CHAIN, { withRequests: true }),
    await listFills(read(), { chain: CHAIN, trader: ALICE, cursor: undefined, limit: 10 }),
    await listOrders(read(), CHAIN, ALICE, LAST_ID, 10),
    (await listEvents(read(), { chain: CHAIN, trader: ALICE }, { after: 0, limit: 50 })).length,
  ]

  it('change nothing when nothing was missed, neither ids nor the log', async () => {
    const before = await describeAll()
    assert.equal(await reindex(0, 5), 0)
    assert.deepEqual(await describeAll(), before)
  })

  it('add what was missed, with its fills', async () => {
    await missClose()
    assert.deepEqual(await statuses(), ['filled'])
    assert.equal((await listOpenPositions(read(), CHAIN)).length, 1)
    assert.equal(await reindex(1, 100), 2)
    assert.deepEqual(await statuses(), ['filled', 'filled'])
    assert.deepEqual(await fills(), ['TradeClosedMarket', 'TradeOpenedMarket'])
    assert.deepEqual(await listOpenPositions(read(), CHAIN), [])
    assert.equal(await reindex(1, 100), 0)
  })

  it('are read part by part, so that following goes on between', async () => {
    for (let i = 0; i < 1_500; i += 1) fake.node.mine()
    await fake.follow()
    await fake.opened.store.transaction(TEST_SCOPE, (sql) =>
      insertReindex(sql, { chain: CHAIN, fromBlock: 0, toBlock: 1_400 }),
    )
    const nextBlocks: (number | undefined)[] = []
    for (let looks = 0; looks < 2; looks += 1) {
      fake.nowMs += 1_000
      await fake.follow()
      nextBlocks.push((await listReindexes(read())).at(-1)?.nextBlock)
    }
    assert.deepEqual(nextBlocks, [1_000, 1_401])
  })
})
