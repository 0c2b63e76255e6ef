import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, PendingOrderType, type Address, type OrderId } from '@bezel/protocol'
import { chainMarkets } from '../market/testing/fixtures.ts'
import { listEvents } from '../store/accountEventStore.ts'
import { listFills } from '../store/fillStore.ts'
import { listOrders, type StoredOrder } from '../store/orderStore.ts'
import { listOpenPositions, listUpdateIndices } from '../store/positionStore.ts'
import { listUnproven, readSnapshot } from '../store/snapshotStore.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import { START_MS } from './testing/fakeNode.ts'
import {
  ALICE,
  BOB,
  CHAIN,
  ORACLE,
  address,
  chainTrade,
  executed,
  requested,
  stored,
  tradeClosed,
} from './testing/handMade.ts'
import { createFakeDiamond, type FakeDiamond } from './testing/fakeDiamond.ts'

const LAST_ID = '9007199254740991' as OrderId
const TOKENS = { positionSizeToken: 16_000_000_000_000_000n }

describe('a snapshot', () => {
  let fake: FollowedFake
  let diamond: FakeDiamond
  const markets = chainMarkets()

  beforeEach(async () => {
    fake = await openFollowedFake()
    diamond = createFakeDiamond()
    await begin()
    for (let i = 0; i < 10; i += 1) fake.node.mine()
  })
  afterEach(() => fake.opened.remove())

  /** Starts a follower that takes a snapshot, as a restart does. */
  const begin = (tradersPerPart = 5) =>
    fake.restart({ startBlock: undefined, client: diamond.over(fake.node.client), tradersPerPart })

  const read = () => fake.opened.store.read
  const positions = () => listOpenPositions(read(), CHAIN)
  const ordersOf = (trader: Address): Promise<StoredOrder[]> => listOrders(read(), CHAIN, trader, LAST_ID, 100)
  const log = async (trader: Address) =>
    (await listEvents(read(), { chain: CHAIN, trader }, { after: 0, limit: 100 })).map(
      ({ channel, block, isReverted }) => [channel, block, isReverted],
    )

  /**
   * Alice has a position, a resting order, a request to open and one to close; Bob a position that is being changed.
   */
  function fill(): void {
    diamond.traders.push(ALICE, address('c3'), BOB)
    diamond.trades.push(
      chainTrade({ index: 3, ...TOKENS }),
      chainTrade({ index: 5, tradeType: 1, openPrice: 590_000_000_000_000n }),
      chainTrade({ user: BOB, index: 1, long: false, ...TOKENS }),
    )
    diamond.requests.push(
      requestOf({ index: 7, orderType: PendingOrderType.MARKET_OPEN }),
      requestOf({ index: 8, orderType: PendingOrderType.MARKET_CLOSE, trade: { index: 3 } }),
      requestOf({
        index: 2,
        orderType: PendingOrderType.UPDATE_LEVERAGE,
        trade: { user: BOB, index: 1, leverage: 5_000, collateralAmount: 100_000_000n },
      }),
    )
    diamond.fees.set(`${ALICE}:3`, { realizedTradingFeesCollateral: 11n, realizedPnlCollateral: -12n })
  }

  it('finds what is open, and the chain is followed from the next block on', async () => {
    fill()
    assert.equal(fake.following.knowledge.isTakingSnapshot(), true)
    await fake.follow()
    assert.equal(fake.following.knowledge.isTakingSnapshot(), false)
    assert.equal(fake.following.head()?.number, 9)
    const [alices, bobs] = await positions()
    assert.deepEqual([alices?.record.trader, bobs?.record.trader], [ALICE, BOB])
    assert.equal(alices?.state?.feesData.realizedPnlCollateral, -12n)
    assert.deepEqual(alices.state.oldBorrowing, { accPairFee: 7n, accGroupFee: 9n, block: 3 })
    assert.equal(alices.state.openedAtBlock, 1)
    const update = bobs?.state?.pendingUpdate
    assert.deepEqual([update?.kind, update?.pendingIndex, update?.txHash], ['leverage', 2, null])
    assert.deepEqual([update?.createdBlock, update?.timesOutAtBlock], [4, 204])
    assert.deepEqual(await listUnproven(read(), CHAIN), [])
  })

  it('shows orders without a hash, with the time of its block', async () => {
    fill()
    await fake.follow()
    const orders = await ordersOf(ALICE)
    assert.deepEqual(
      orders.map(({ state, record }) => [record.request.kind, record.request.type, state?.status, state?.txHash]),
      [
        ['close', 'market', 'pending', null],
        ['open', 'market', 'pending', null],
        ['open', 'limit', 'open', null],
      ],
    )
    for (const { record, state } of orders) {
      assert.equal(record.createdAtMs, START_MS + 9_000)
      assert.equal(state?.updatedAtMs, START_MS + 9_000)
      assert.equal(record.request.clientId, null)
    }
    assert.deepEqual(
      orders.map(({ state }) => [state?.tradeIndex, state?.unanswered, state?.dueBlock]),
      [
        [null, [8], 204],
        [null, [7], 204],
        [5, [], null],
      ],
    )
    assert.deepEqual(
      await ordersOf(BOB),
      [],
      'a change of leverage is no order, and nobody knows how a position opened',
    )
  })

  it('shows a request whose time is over as timed out since the block of the snapshot', async () => {
    fill()
    for (let i = 0; i < 200; i += 1) fake.node.mine()
    await fake.follow()
    const [close, open, resting] = await ordersOf(ALICE)
    assert.deepEqual(
      [close, open, resting].map((order) => [order?.state?.status, order?.state?.updatedAtMs]),
      [
        ['timed_out', START_MS + 209_000],
        ['timed_out', START_MS + 209_000],
        ['open', START_MS + 209_000],
      ],
    )
    assert.equal((await positions())[1]?.state?.pendingUpdate?.status, 'timed_out')
  })

  it('tells one event of positions per trader, and neither orders nor fills', async () => {
    fill()
    diamond.traders.push(address('d4'))
    diamond.trades.push(chainTrade({ user: address('d4'), tradeType: 2 }))
    await fake.follow()
    for (const trader of [ALICE, BOB, address('d4')]) assert.deepEqual(await log(trader), [['positions', 9, false]])
    const of = { chain: CHAIN, trader: ALICE, cursor: undefined, limit: 10 }
    assert.deepEqual(await listFills(read(), of), [])
  })

  it('is followed by what happens next to what it found', async () => {
    fill()
    await fake.follow()
    const trade = { index: 3, ...TOKENS }
    fake.node.mine({ from: ORACLE, events: [tradeClosed(3), executed({ pendingIndex: 8, open: false, trade })] })
    fake.node.mine({ from: ORACLE, events: [stored({ index: 6 }), executed({ pendingIndex: 7, trade: { index: 6 } })] })
    await fake.follow()
    const orders = await ordersOf(ALICE)
    assert.deepEqual(
      orders.map(({ state }) => state?.status),
      ['filled', 'filled', 'open'],
    )
    const open = (await positions()).filter(({ record }) => record.trader === ALICE)
    assert.deepEqual(
      open.map(({ state, record }) => [state?.trade.index, record.originOrderId]),
      [[6, orders[1]!.record.id]],
    )
  })

  it('tells the size of what is closed of a trade from before v10, which stores none in tokens', async () => {
    diamond.traders.push(ALICE)
    diamond.trades.push(chainTrade())
    diamond.requests.push(requestOf({ index: 8, orderType: PendingOrderType.MARKET_CLOSE }))
    await fake.follow()
    const trade = { positionSizeToken: 0n }
    fake.node.mine({ from: ORACLE, events: [tradeClosed(0), executed({ pendingIndex: 8, open: false, trade })] })
    await fake.follow()
    const [close] = await ordersOf(ALICE)
    // 100 USDC, ten times, at 60,000.
    assert.deepEqual([close?.state?.size, close?.state?.fill?.size], Array(2).fill('0.016666666666666666'))
  })

  it('goes on where it stood when the process is killed, and adds nothing twice', async () => {
    diamond.traders.push(...Array.from({ length: 12 }, (_, i) => traderOf(i)))
    diamond.trades.push(...diamond.traders.map((user) => chainTrade({ user, ...TOKENS })))
    while (((await readSnapshot(read(), CHAIN))?.nextTrader ?? 0) < 5) await fake.following.step(markets)
    assert.equal((await positions()).length, 5)
    await begin()
    assert.equal(fake.following.knowledge.isTakingSnapshot(), true)
    fake.node.mine()
    await fake.follow()
    assert.equal((await positions()).length, 12)
    assert.deepEqual(await log(traderOf(3)), [['positions', 9, false]])
    assert.deepEqual((await readSnapshot(read(), CHAIN))?.isComplete, true)
  })

  it('that was begun is finished when a first block is configured meanwhile', async () => {
    fill()
    await begin(1)
    await fake.following.step(markets)
    await fake.restart({ startBlock: 0, client: diamond.over(fake.node.client) })
    assert.equal(fake.following.knowledge.isTakingSnapshot(), true)
    await fake.follow()
    assert.equal((await positions()).length, 2)
    assert.equal(fake.following.knowledge.knownSince()?.block, 9)
  })

  it('begins anew, with the same ids, when its block is replaced while it is read', async () => {
    diamond.traders.push(...Array.from({ length: 7 }, (_, i) => traderOf(i)))
    diamond.trades.push(...diamond.traders.map((user) => chainTrade({ user, ...TOKENS })))
    await fake.following.step(markets)
    const before = await positions()
    fake.node.rewind(2)
    fake.node.mine()
    fake.node.mine()
    fake.node.mine()
    await fake.follow()
    assert.equal(fake.following.head()?.number, 10)
    const after = await positions()
    assert.equal(after.length, 7)
    assert.deepEqual(
      after.slice(0, before.length).map(({ record }) => record.id),
      before.map(({ record }) => record.id),
    )
    assert.deepEqual(await log(traderOf(3)), [
      ['positions', 9, false],
      ['positions', 10, false],
    ])
  })

  it('takes a newer block when the node has no state of the old one any more', async () => {
    diamond.traders.push(...Array.from({ length: 7 }, (_, i) => traderOf(i)))
    diamond.trades.push(...diamond.traders.map((user) => chainTrade({ user, ...TOKENS })))
    await fake.following.step(markets)
    fake.node.mine()
    diamond.stateFrom = 10
    for (let i = 0; i < 5; i += 1) await assert.rejects(fake.following.step(markets), /missing trie node/)
    await fake.follow()
    assert.equal(fake.following.head()?.number, 10)
    assert.equal((await positions()).length, 7)
  })

  it('is undone with its block and taken again, with the same ids', async () => {
    fill()
    await fake.follow()
    const before = await positions()
    const [alices] = await ordersOf(ALICE)
    fake.node.mine()
    await fake.follow()
    fake.node.rewind(3)
    for (let i = 0; i < 4; i += 1) fake.node.mine()
    await fake.follow()
    assert.equal(fake.following.head()?.number, 11)
    assert.deepEqual(
      (await positions()).map(({ record }) => record.id),
      before.map(({ record }) => record.id),
    )
    assert.equal((await ordersOf(ALICE))[0]?.record.id, alices?.record.id)
    // Nobody is told to be flat in between.
    assert.deepEqual(await log(ALICE), [
      ['positions', 9, false],
      ['positions', 11, false],
    ])
  })

  it('that is undone leaves its ids to the same trades and requests when the chain makes them anew', async () => {
    fill()
    await fake.follow()
    const [alices] = await positions()
    const found = await ordersOf(ALICE)
    const idOf = (orders: readonly StoredOrder[], pendingIndex: number) =>
      orders.find(({ state }) => state?.unanswered.includes(pendingIndex))?.record.id
    diamond.trades.length = 0
    diamond.requests.length = 0
    fake.node.rewind(2)
    for (let i = 0; i < 3; i += 1) fake.node.mine()
    await fake.follow()
    assert.deepEqual([await positions(), await ordersOf(ALICE)], [[], []])
    assert.deepEqual((await log(ALICE)).at(-1), ['positions', 10, false])
    fake.node.mine(
      { from: ORACLE, events: [stored({ index: 3 }), executed({ pendingIndex: 0, trade: { index: 3 } })] },
      { from: ALICE, events: [requested({ index: 7 })] },
      { from: ALICE, events: [stored({ index: 5, tradeType: 1 }, 1_000)] },
    )
    await fake.follow()
    const [again] = await positions()
    assert.equal(again?.record.id, alices?.record.id)
    const orders = await ordersOf(ALICE)
    assert.ok(idOf(orders, 7) !== undefined)
    assert.equal(idOf(orders, 7), idOf(found, 7))
    const resting = (of: readonly StoredOrder[]) => of.find(({ state }) => state?.status === 'open')?.record.id
    assert.ok(resting(orders) !== undefined)
    assert.equal(resting(orders), resting(found))
  })

  it('does not hide that a trader is known in part, and mends it as soon as the node shows all', async () => {
    fill()
    diamond.hidden.add(ALICE)
    await fake.follow()
    assert.deepEqual(
      (await listUnproven(read(), CHAIN)).map(({ trader }) => trader),
      [ALICE],
    )
    assert.deepEqual([fake.following.knowledge.isKnown(ALICE), fake.following.knowledge.isKnown(BOB)], [false, true])
    diamond.hidden.clear()
    fake.nowMs += 2_000
    await fake.follow()
    assert.equal(fake.following.knowledge.isKnown(ALICE), true)
    assert.equal((await positions()).length, 2)
  })

  it('reads a trader with very many trades in calls of a bounded size', async () => {
    diamond.traders.push(ALICE)
    for (let index = 0; index < 230; index += 1) diamond.trades.push(chainTrade({ index, ...TOKENS }))
    await fake.follow()
    assert.equal((await positions()).length, 230)
    assert.equal(fake.following.knowledge.isKnown(ALICE), true)
    assert.ok(diamond.largestBatch < 100, `a batch of ${diamond.largestBatch} calls, and the client adds one`)
  })

  it('keeps only so much in one part, however many trades each trader has', async () => {
    await begin(500)
    diamond.traders.push(...Array.from({ length: 12 }, (_, i) => traderOf(i)))
    for (const user of diamond.traders) {
      for (let index = 0; index < 100; index += 1) diamond.trades.push(chainTrade({ user, index, tradeType: 1 }))
    }
    await fake.follow()
    const sizes = fake.commits.map((commit) => commit.orders.length)
    assert.deepEqual(sizes, [1_000, 200])
  })

  for (const message of ['out of gas', 'execution aborted (timeout = 5s)']) {
    it(`leaves out only the trader whose trades the node can not list: ${message}`, async () => {
      fill()
      diamond.endless.add(ALICE)
      diamond.endlessMessage = message
      diamond.currentIndices.set(ALICE, 40_000)
      await fake.follow()
      assert.deepEqual([fake.following.knowledge.isKnown(ALICE), fake.following.knowledge.isKnown(BOB)], [false, true])
      assert.deepEqual(await listUnproven(read(), CHAIN), [
        { trader: ALICE, reason: '0 trades were read and 2 are open' },
      ])
    })
  }

  it('reads traders one by one where the node can not list them together', async () => {
    const traders = Array.from({ length: 10 }, (_, i) => traderOf(i))
    diamond.traders.push(...traders)
    for (const user of traders) {
      diamond.trades.push(chainTrade({ user, ...TOKENS }))
      diamond.requests.push(requestOf({ index: 1, trade: { user } }))
      diamond.currentIndices.set(user, 400)
    }
    diamond.maxIndices = 1_000
    diamond.currentIndices.set(traders[3]!, 1_001)
    await fake.follow()
    assert.deepEqual(await listUnproven(read(), CHAIN), [
      { trader: traders[3], reason: '0 trades were read and 1 are open' },
    ])
    const others = traders.toSpliced(3, 1)
    assert.deepEqual(
      (await positions()).map(({ record }) => record.trader),
      others,
    )
    assert.ok(others.every((trader) => fake.following.knowledge.isKnown(trader)))
  })

  it('reads less at once after a failure, and more again when it went well', async () => {
    await begin(500)
    diamond.traders.push(...Array.from({ length: 70 }, (_, i) => traderOf(i)))
    diamond.trades.push(...diamond.traders.map((user) => chainTrade({ user, ...TOKENS })))
    // A node whose answers may have only so many bytes.
    const asked: number[] = []
    diamond.isTooLarge = (functionName, args) => {
      if (functionName !== 'getTraders') return false
      const [from, to] = args as [number, number]
      asked.push(to - from + 1)
      return to - from + 1 > 10
    }
    for (let steps = 0; fake.following.knowledge.isTakingSnapshot(); steps += 1) {
      assert.ok(steps < 40, 'it comes to an end')
      await fake.following.step(markets).catch((error) => assert.match(error.message, /too large/))
    }
    assert.equal((await positions()).length, 70)
    assert.deepEqual(asked.slice(0, 8), [70, 70, 70, 62, 31, 15, 7, 14])
  })

  it('finds a trader who is listed twice once', async () => {
    diamond.traders.push(ALICE, ...Array.from({ length: 5 }, (_, i) => traderOf(i)), ALICE)
    diamond.trades.push(chainTrade(TOKENS), chainTrade({ index: 1, tradeType: 1 }))
    diamond.requests.push(requestOf({ index: 7 }))
    await fake.follow()
    assert.equal((await positions()).length, 1)
    assert.equal((await ordersOf(ALICE)).length, 2)
    assert.deepEqual(await log(ALICE), [['positions', 9, false]])
  })

  it('finds requests about positions that ended before the answer, so that their collateral can be reclaimed', async () => {
    fill()
    for (const trade of diamond.trades) if (trade.tradeType === 0) trade.isOpen = false
    await fake.follow()
    assert.deepEqual(await positions(), [])
    const orders = await ordersOf(ALICE)
    assert.deepEqual(
      orders.map(({ state, record }) => [record.request.kind, state?.status, state?.unanswered]),
      [
        ['close', 'pending', [8]],
        ['open', 'pending', [7]],
        ['open', 'open', []],
      ],
    )
    assert.deepEqual(await listUpdateIndices(read(), CHAIN, BOB), [2])
    fake.nowMs += 11_000
    await fake.follow()
    assert.deepEqual([fake.following.knowledge.isKnown(ALICE), fake.following.knowledge.isKnown(BOB)], [true, true])
  })

  it('waits for a node that is away, however long, and goes on where it stood', async () => {
    diamond.traders.push(...Array.from({ length: 7 }, (_, i) => traderOf(i)))
    diamond.trades.push(...diamond.traders.map((user) => chainTrade({ user, ...TOKENS })))
    await fake.following.step(markets)
    fake.node.isAway = true
    for (let i = 0; i < 12; i += 1) await assert.rejects(fake.following.step(markets), /the node is away/)
    fake.node.isAway = false
    fake.node.mine()
    await fake.follow()
    assert.equal((await readSnapshot(read(), CHAIN))?.block.number, 9)
    assert.equal((await positions()).length, 7)
  })

  it('of a Diamond without traders is complete at once', async () => {
    await fake.follow()
    assert.equal(fake.following.knowledge.isTakingSnapshot(), false)
    assert.deepEqual(await positions(), [])
  })

  it('is taken only of a chain of which nothing is followed', async () => {
    await fake.follow()
    const { calls } = diamond
    fake.node.mine()
    await begin()
    await fake.follow()
    assert.equal(diamond.calls, calls)
  })
})

function traderOf(i: number): Address {
  return parseAddress(`0x${(0x7f0000 + i).toString(16).padStart(40, '0')}`)!
}

function requestOf(of: Parameters<typeof requested>[0]) {
  return { ...requested(of).args.pendingOrder, createdBlock: 4 }
}
