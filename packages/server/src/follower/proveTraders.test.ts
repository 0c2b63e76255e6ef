import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { PendingOrderType, type Address, type OrderId } from '@bezel/protocol'
import { getAddress } from 'viem'
import { listOrders } from '../store/orderStore.ts'
import { listOpenPositions, listOpenPositionsOf } from '../store/positionStore.ts'
import { addUnproven, listUnproven } from '../store/snapshotStore.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import { ALICE, BOB, CHAIN, ORACLE, chainTrade, executed, feesRealized, requested, stored } from './testing/handMade.ts'
import { createFakeDiamond, type FakeDiamond } from './testing/fakeDiamond.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const LAST_ID = '9007199254740991' as OrderId
/** Longer than the intervals of both the looks and the round. */
const ROUND_MS = 31_000
const testAddress = (i: number): Address => getAddress(`0x${String(i + 1).padStart(40, '0')}`) as Address
const TOKENS = { positionSizeToken: 16_000_000_000_000_000n }

describe('the proof that everything is known', () => {
  let fake: FollowedFake
  let diamond: FakeDiamond

  /** Alice opens a position, which is followed; the Diamond has the same. */
  beforeEach(async () => {
    fake = await openFollowedFake()
    diamond = createFakeDiamond()
    await fake.restart({ startBlock: 0, client: diamond.over(fake.node.client) })
    fake.node.mine({ from: ALICE, events: [requested()] })
    fake.node.mine({ from: ORACLE, events: [stored(), feesRealized(), executed()] })
    await fake.follow()
    diamond.traders.push(ALICE)
    diamond.trades.push(chainTrade(TOKENS))
  })
  afterEach(() => fake.opened.remove())

  const read = () => fake.opened.store.read
  const indices = async () => (await listOpenPositions(read(), CHAIN)).map(({ state }) => state!.trade.index)
  const orders = async () => listOrders(read(), CHAIN, ALICE, LAST_ID, 10)
  const unproven = async () => (await listUnproven(read(), CHAIN)).map(({ reason }) => reason)

  async function round(): Promise<void> {
    fake.nowMs += ROUND_MS
    await fake.follow()
  }

  it('changes nothing while the counters agree, and asks for nothing between the rounds', async () => {
    const commits = fake.commits.length
    await round()
    assert.equal(fake.commits.length, commits)
    const { calls } = diamond
    assert.ok(calls > 0)
    fake.nowMs += 900
    await fake.follow()
    assert.equal(diamond.calls, calls)
    assert.equal(fake.following.knowledge.isKnown(ALICE), true)
  })

  it('finds a trade and a resting order that were missed', async () => {
    diamond.trades.push(chainTrade({ index: 4, ...TOKENS }), chainTrade({ index: 5, tradeType: 1 }))
    await round()
    assert.deepEqual(await indices(), [0, 4])
    assert.equal((await orders()).find(({ state }) => state?.status === 'open')?.state?.tradeIndex, 5)
    assert.deepEqual(await unproven(), [])
    const commits = fake.commits.length
    await round()
    assert.equal(fake.commits.length, commits, 'a second round finds nothing more')
  })

  it('finds a trader of whom nothing is known, in whatever part of the list of the chain', async () => {
    diamond.traders.unshift(...Array.from({ length: 600 }, (_, i) => testAddress(i)))
    diamond.traders.push(BOB)
    diamond.trades.push(chainTrade({ user: BOB, ...TOKENS }))
    await round()
    assert.equal((await listOpenPositionsOf(read(), CHAIN, BOB)).length, 0, 'not its turn yet')
    await round()
    assert.equal((await listOpenPositionsOf(read(), CHAIN, BOB)).length, 1)
    assert.deepEqual(await unproven(), [])
    diamond.trades.push(chainTrade({ user: BOB, index: 1, ...TOKENS }))
    diamond.traders.length = 0
    await round()
    assert.equal((await listOpenPositionsOf(read(), CHAIN, BOB)).length, 2, 'it is known by now')
  })

  describe('whose trade was changed by an event that is not known', () => {
    const changed = { leverage: 20_000, collateralAmount: 50_000_000n, sl: 590_000_000_000_000n }
    const trade = async () => (await listOpenPositions(read(), CHAIN))[0]!.state!.trade
    let signs: number
    let reasons: string[]

    beforeEach(async () => {
      signs = 0
      reasons = []
      const client = diamond.over(fake.node.client)
      const onDifferent = (_trader: Address, difference: string) => reasons.push(difference)
      await fake.restart({ startBlock: 0, client, signsOfChange: () => signs, onDifferent })
      await fake.follow()
      diamond.trades[0] = chainTrade({ ...TOKENS, ...changed })
    })

    async function rounds(count: number): Promise<void> {
      for (let i = 0; i < count; i += 1) await round()
    }

    it('refuses the trader in the tenth part of the round, and heals the trade as soon as the node tells it', async () => {
      diamond.isTooLarge = (functionName) => functionName === 'getTradeFeesDataArray'
      await rounds(9)
      assert.deepEqual([reasons, fake.following.knowledge.isKnown(ALICE)], [[], true])
      await rounds(1)
      assert.deepEqual(reasons, ['the leverage of trade 0 is not known as it is on the chain'])
      assert.deepEqual(await unproven(), reasons)
      assert.equal(fake.following.knowledge.isKnown(ALICE), false)
      diamond.isTooLarge = () => false
      await round()
      assert.partialDeepStrictEqual(await trade(), changed)
      assert.deepEqual([await unproven(), fake.following.knowledge.isKnown(ALICE)], [[], true])
    })

    it('refuses the trader at once after a sign of a change, and looks again after each', async () => {
      signs = 1
      await rounds(1)
      assert.partialDeepStrictEqual(await trade(), changed)
      await rounds(1)
      diamond.trades[0] = chainTrade({ ...TOKENS, ...changed, long: false })
      await rounds(7)
      assert.equal((await trade()).long, true, 'not its turn')
      signs = 2
      await rounds(1)
      assert.equal((await trade()).long, false)
    })

    it('finds the changed terms of a resting order too', async () => {
      diamond.trades.splice(0, 1, chainTrade(TOKENS), chainTrade({ index: 5, tradeType: 1 }))
      await rounds(1)
      diamond.trades[1] = chainTrade({ index: 5, tradeType: 1, sl: 590_000_000_000_000n })
      const commits = fake.commits.length
      await rounds(9)
      assert.equal((await orders()).find(({ state }) => state?.status === 'open')?.state?.sl, '59000')
      assert.deepEqual([fake.commits.length - commits, await unproven()], [1, []])
    })
  })

  it('ends a position whose close was missed', async () => {
    diamond.trades.length = 0
    await round()
    assert.deepEqual(await indices(), [])
    assert.deepEqual(await unproven(), [])
  })

  it('takes the triggers of a bot for no requests of the trader', async () => {
    const told: string[] = []
    const onDifferent = (_trader: Address, difference: string) => told.push(difference)
    await fake.restart({ startBlock: 0, client: diamond.over(fake.node.client), onDifferent })
    await fake.follow()
    diamond.requests.push({ ...requested({ index: 9, orderType: PendingOrderType.TP_CLOSE }).args.pendingOrder })
    await round()
    assert.deepEqual([await unproven(), fake.following.knowledge.isKnown(ALICE)], [[], true])
    assert.deepEqual(told, [], 'nothing differs')
    diamond.trades.push(chainTrade({ index: 4, ...TOKENS }))
    await round()
    assert.deepEqual(told, ['trade 4 is not known as it is on the chain'])
  })

  it('keeps a trader unproven whose request ended where nobody looked', async () => {
    fake.node.mine({ from: ALICE, events: [requested({ index: 1 })] })
    await fake.follow()
    await round()
    assert.deepEqual(await unproven(), ['request 1 was made or answered in a block that was not followed'])
    assert.equal(fake.following.knowledge.isKnown(ALICE), false)
    diamond.requests.push(requested({ index: 1 }).args.pendingOrder)
    await round()
    assert.deepEqual([await unproven(), fake.following.knowledge.isKnown(ALICE)], [[], true])
  })

  it('keeps a trader unproven whose position was closed where nobody looked, by an order that is known', async () => {
    fake.node.mine({ from: ALICE, events: [requested({ index: 1, orderType: PendingOrderType.MARKET_CLOSE })] })
    await fake.follow()
    diamond.trades.length = 0
    await round()
    const [close] = await orders()
    assert.deepEqual([close?.state?.status, close?.state?.unanswered], ['pending', [1]])
    assert.deepEqual(await unproven(), ['request 1 was made or answered in a block that was not followed'])
  })

  it('reads a trader again whom the operator names, and mends what differs', async () => {
    diamond.fees.set(`${ALICE}:0`, { realizedPnlCollateral: -77n })
    await fake.opened.store.transaction(TEST_SCOPE, (sql) =>
      addUnproven(sql, CHAIN, { trader: ALICE, reason: 'asked' }),
    )
    fake.nowMs += 1_000
    await fake.follow()
    const [position] = await listOpenPositions(read(), CHAIN)
    assert.equal(position?.state?.feesData.realizedPnlCollateral, -77n)
    assert.deepEqual(await unproven(), [])
  })

  it('reads a trader who stays unproven less and less often, and at once when all is there', async () => {
    fake.node.mine({ from: ALICE, events: [requested({ index: 1 })] })
    await fake.follow()
    await round()
    assert.equal(fake.following.knowledge.isKnown(ALICE), false)
    let reads = 0
    diamond.onRead = () => void (reads += 1)
    const readsOf = async (seconds: number): Promise<number> => {
      reads = 0
      for (let i = 0; i < seconds; i += 1) {
        fake.nowMs += 1_000
        await fake.follow()
      }
      return reads
    }
    const [early, late] = [await readsOf(100), await readsOf(100)]
    assert.ok(early < 100 && late < early, `${early} and ${late} reads in 100 s`)
    diamond.requests.push(requested({ index: 1 }).args.pendingOrder)
    await readsOf(61)
    assert.deepEqual([await unproven(), fake.following.knowledge.isKnown(ALICE)], [[], true])
  })

  it('is undone with the block at which it was made, like everything else', async () => {
    diamond.trades.push(chainTrade({ index: 4, ...TOKENS }))
    await round()
    const [, found] = await listOpenPositions(read(), CHAIN)
    diamond.trades.pop()
    fake.node.rewind(1)
    fake.node.mine({ from: ORACLE, events: [stored(), feesRealized(), executed()] })
    fake.node.mine()
    await fake.follow()
    assert.deepEqual(await indices(), [0])
    diamond.trades.push(chainTrade({ index: 4, ...TOKENS }))
    await round()
    assert.equal((await listOpenPositions(read(), CHAIN))[1]?.record.id, found?.record.id)
  })

  it('doubts a trader again when the block is undone at which something was found', async () => {
    diamond.trades.push(chainTrade({ index: 4, ...TOKENS }))
    await round()
    assert.equal(fake.following.knowledge.isKnown(ALICE), true)
    const known: boolean[] = []
    fake.onCommit = ({ cause }) => {
      if (cause.isReorg) known.push(fake.following.knowledge.isKnown(ALICE))
    }
    fake.node.rewind(1)
    fake.node.mine({ from: ORACLE, events: [stored(), feesRealized(), executed()] })
    fake.node.mine()
    await fake.follow()
    assert.deepEqual(await indices(), [0])
    assert.ok(known.length > 0 && !known.includes(true), 'nobody reads that there is less than there is')
    assert.equal(fake.following.knowledge.isKnown(ALICE), false)
    await fake.restart({ startBlock: 0, client: diamond.over(fake.node.client) })
    assert.equal(fake.following.knowledge.isKnown(ALICE), false, 'nor after a restart')
    fake.nowMs += 1_000
    await fake.follow()
    assert.deepEqual([await indices(), fake.following.knowledge.isKnown(ALICE)], [[0, 4], true])
  })

  it('proves the others while the node has no answer about one trader', async () => {
    diamond.traders.push(BOB)
    diamond.trades.push(chainTrade({ user: BOB, ...TOKENS }))
    await round()
    for (const trader of [ALICE, BOB]) {
      await fake.opened.store.transaction(TEST_SCOPE, (sql) => addUnproven(sql, CHAIN, { trader, reason: 'asked' }))
    }
    diamond.endless.add(ALICE)
    diamond.endlessMessage = 'internal error'
    diamond.currentIndices.set(ALICE, 40_000)
    for (let i = 0; i < 20; i += 1) {
      fake.nowMs += 1_000
      await fake.follow()
    }
    const { isKnown } = fake.following.knowledge
    assert.deepEqual([isKnown(ALICE), isKnown(BOB)], [false, true])
  })

  it('refuses a trader whose counters differ until the node has told the difference', async () => {
    diamond.trades.push(chainTrade({ index: 4, ...TOKENS }))
    diamond.endless.add(ALICE)
    diamond.endlessMessage = 'internal error'
    await round()
    assert.equal(fake.following.knowledge.isKnown(ALICE), false)
    diamond.endless.clear()
    await round()
    assert.deepEqual([await indices(), fake.following.knowledge.isKnown(ALICE)], [[0, 4], true])
  })

  it('reads only so many traders at a time whose counters differ, and refuses the others until then', async () => {
    const others = Array.from({ length: 120 }, (_, i) => testAddress(i))
    diamond.traders.push(...others)
    diamond.trades.push(...others.map((user) => chainTrade({ user, ...TOKENS })))
    await round()
    const { isKnown } = fake.following.knowledge
    assert.equal(others.filter((trader) => !isKnown(trader)).length, 20)
    assert.equal((await indices()).length, 101)
    fake.nowMs += 1_000
    await fake.follow()
    assert.ok(others.every((trader) => isKnown(trader)))
    assert.equal((await indices()).length, 121)
  })

  it('does not stop the follower when the node has no answer', async () => {
    diamond.stateFrom = 1_000
    await round()
    fake.node.mine()
    await fake.follow()
    assert.equal(fake.following.head()?.number, 2)
    assert.equal(fake.following.knowledge.isKnown(ALICE), true)
  })
})
