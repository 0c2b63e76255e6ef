import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Usd, type Decimal, type Hex, type OrderId } from '@bezel/protocol'
import { listAttempts } from '../store/attemptStore.ts'
import { listOrderEvents } from '../store/orderEventStore.ts'
import { listOrders, type StoredOrder } from '../store/orderStore.ts'
import { findPositionByOrigin } from '../store/positionStore.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import { utcDayOf } from '../trading/scope.ts'
import { START_MS } from './testing/fakeNode.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import {
  address,
  AGENT,
  ALICE,
  attempt,
  attemptId,
  BOB,
  calldataOf,
  CHAIN,
  chainTrade,
  executed,
  feesProcessed,
  ORACLE,
  orderRecord,
  requested,
  stored,
  txHash,
} from './testing/handMade.ts'

const FIRST = attemptId('01')

const SECOND = attemptId('02')

const HASH = txHash('77')

const WALLET = address('5a')

describe('which order a transaction belongs to', () => {
  let fake: FollowedFake
  beforeEach(async () => {
    fake = await openFollowedFake()
    fake.node.mine()
  })
  afterEach(() => fake.opened.remove())

  async function allOrders(): Promise<StoredOrder[]> {
    const last = '9007199254740991' as OrderId
    return (await listOrders(fake.opened.store.read, CHAIN, ALICE, last, 100)).toReversed()
  }
  const summary = async (): Promise<unknown[]> =>
    (await allOrders()).map(({ record, state }) => [record.originKey === null ? 'here' : 'elsewhere', state!.status])

  it('is known by the id behind its calldata', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(FIRST))
    const { calldata } = attempt(FIRST)
    fake.node.mine({ from: AGENT, input: calldata, hash: HASH, events: [requested()] })
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'pending')
    assert.equal((await fake.order(id)).state?.txHash, HASH)
    fake.node.mine({ from: ORACLE, events: [stored(), feesProcessed(), executed()] })
    await fake.follow()
    const { state } = await fake.order(id)
    assert.equal(state?.status, 'filled')
    assert.deepEqual(
      { ...state.fill, txHash: 0, positionId: 0, timestamp: 0 },
      {
        price: '60012',
        size: '0.016',
        collateral: '100',
        feeCollateral: '0.75',
        txHash: 0,
        positionId: 0,
        timestamp: 0,
      },
    )
    assert.deepEqual(await summary(), [['here', 'filled']])
    const events = await listOrderEvents(fake.opened.store.read, id)
    assert.deepEqual(
      events.map(({ kind, attemptId: by }) => [kind, by]),
      [
        ['requested', FIRST],
        ['executed', null],
      ],
    )
  })

  it('is none of ours when the id stands behind another call, or the trade is of another trader', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(FIRST))
    fake.node.mine(
      { from: AGENT, input: calldataOf('5bfcc4f9', FIRST), events: [requested()] },
      { from: BOB, input: attempt(FIRST).calldata, events: [requested({ trade: { user: BOB } })] },
    )
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'prepared')
    assert.deepEqual(await summary(), [
      ['here', 'prepared'],
      ['elsewhere', 'pending'],
    ])
  })

  it('is known by the reported hash when it made the same order', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(FIRST, { submittedHash: HASH, submittedAtMs: 1 }))
    fake.node.mine({ from: WALLET, to: WALLET, input: '0x1234' as Hex, hash: HASH, events: [requested()] })
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'pending')
    assert.deepEqual(await summary(), [['here', 'pending']])
  })

  for (const [what, trade] of [
    ['leverage', { leverage: 11_000 }],
    ['side', { long: false }],
    ['pair', { pairIndex: 21 }],
    ['collateral', { collateralIndex: 2 }],
  ] as const) {
    it(`leaves the order as it was when the reported transaction has another ${what}`, async () => {
      const id = await fake.prepare(orderRecord(1), attempt(FIRST, { submittedHash: HASH, submittedAtMs: 1 }))
      fake.node.mine({ from: WALLET, to: WALLET, hash: HASH, events: [requested({ trade })] })
      await fake.follow()
      assert.equal((await fake.order(id)).state?.status, 'prepared')
      assert.equal((await fake.order(id)).state?.txHash, null)
      assert.equal((await listAttempts(fake.opened.store.read, id))[0]?.isMismatch, true)
      assert.deepEqual(await summary(), [
        ['here', 'prepared'],
        ['elsewhere', 'pending'],
      ])
    })
  }

  it('leaves the order as it was when the reported transaction is none of the Diamond at all', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(FIRST, { submittedHash: HASH, submittedAtMs: 1 }))
    fake.node.mine({ from: WALLET, to: WALLET, hash: HASH })
    await fake.follow()
    assert.equal((await fake.order(id)).state?.status, 'prepared')
    assert.equal((await listAttempts(fake.opened.store.read, id))[0]?.isMismatch, true)
  })

  it('is not taken away by a stranger who reports its hash for an order of his own', async () => {
    const ours = await fake.prepare(orderRecord(1), attempt(FIRST))
    const reported = { submittedHash: HASH, submittedAtMs: 1 }
    const strange = attempt(SECOND, { ...reported, sender: BOB, createdAtMs: 1 })
    const theirs = await fake.prepare({ ...orderRecord(2), trader: BOB, agent: BOB }, strange)
    const wallet = await fake.prepare(orderRecord(3), attempt(attemptId('03'), { submittedHash: txHash('78') }))
    const squatted = attempt(attemptId('04'), { submittedHash: txHash('78'), sender: BOB, createdAtMs: 1 })
    await fake.prepare({ ...orderRecord(4), trader: BOB, agent: BOB }, squatted)
    fake.node.mine(
      { from: AGENT, input: '0x5bfcc4f8' as Hex, hash: HASH, events: [requested()] },
      { from: WALLET, to: WALLET, hash: txHash('78'), events: [requested({ index: 1 })] },
    )
    await fake.follow()
    assert.equal((await fake.order(ours)).state?.txHash, HASH)
    assert.equal((await fake.order(wallet)).state?.txHash, txHash('78'))
    assert.equal((await fake.order(theirs)).state?.status, 'prepared')
    assert.equal((await listAttempts(fake.opened.store.read, theirs))[0]?.isMismatch, true)
    assert.deepEqual(await summary(), [
      ['here', 'pending'],
      ['here', 'pending'],
    ])
  })

  it('is known by sender and calldata also when its hash was reported for another order', async () => {
    const ours = await fake.prepare(orderRecord(1), attempt(FIRST))
    const other = orderRecord(2, { leverage: '20' as Decimal })
    await fake.prepare(other, attempt(SECOND, { calldata: calldataOf('ff', SECOND), submittedHash: HASH }))
    fake.node.mine({ from: AGENT, input: '0x5bfcc4f8' as Hex, hash: HASH, events: [requested()] })
    await fake.follow()
    assert.equal((await fake.order(ours)).state?.txHash, HASH)
    assert.deepEqual(await summary(), [
      ['here', 'pending'],
      ['here', 'prepared'],
    ])
  })

  it('is known by sender and calldata when the id was dropped, oldest first', async () => {
    const first = await fake.prepare(orderRecord(1), attempt(FIRST))
    const second = await fake.prepare(orderRecord(2), attempt(SECOND))
    const input = '0x5bfcc4f8' as Hex
    fake.node.mine({ from: AGENT, input, events: [requested()] })
    await fake.follow()
    assert.equal((await fake.order(first)).state?.status, 'pending')
    assert.equal((await fake.order(second)).state?.status, 'prepared')
    fake.node.mine(
      { from: AGENT, input, events: [requested({ index: 1 })] },
      { from: BOB, input, events: [requested({ index: 2 })] },
    )
    await fake.follow()
    assert.equal((await fake.order(second)).state?.status, 'pending')
    assert.deepEqual(await summary(), [
      ['here', 'pending'],
      ['here', 'pending'],
      ['elsewhere', 'pending'],
    ])
  })

  for (const [what, changes] of [
    ['expired', { expiresAtMs: 1 }],
    ['been withdrawn', { withdrawnAtMs: START_MS }],
    ['been reported with a hash that is not mined', { submittedHash: txHash('55'), submittedAtMs: 1 }],
  ] as const) {
    it(`is known without its id also when its order has ${what}`, async () => {
      const id = await fake.prepare(orderRecord(1), attempt(FIRST, changes))
      fake.node.mine({ from: AGENT, input: '0x5bfcc4f8' as Hex, hash: HASH, events: [requested()] })
      await fake.follow()
      assert.equal((await fake.order(id)).state?.txHash, HASH)
      assert.deepEqual(await summary(), [['here', 'pending']])
    })
  }

  it('is rather of an order that somebody waits for than of one that expired before it', async () => {
    const expired = await fake.prepare(orderRecord(1), attempt(FIRST, { expiresAtMs: 1 }))
    const awaited = await fake.prepare(orderRecord(2), attempt(SECOND))
    const input = '0x5bfcc4f8' as Hex
    fake.node.mine({ from: AGENT, input, events: [requested()] }, { from: AGENT, input, events: [] })
    await fake.follow()
    assert.equal((await fake.order(expired)).state?.status, 'expired')
    assert.equal((await fake.order(awaited)).state?.status, 'pending')
    fake.node.mine({ from: AGENT, input, events: [requested({ index: 1 })] })
    await fake.follow()
    assert.equal((await fake.order(expired)).state?.status, 'pending')
  })

  it('makes a second order when both transactions prepared for one are mined', async () => {
    await fake.prepare(orderRecord(1), attempt(FIRST), attempt(SECOND))
    fake.node.mine(
      { from: AGENT, input: attempt(SECOND).calldata, events: [requested()] },
      { from: AGENT, input: attempt(FIRST).calldata, events: [requested({ index: 1 })] },
    )
    await fake.follow()
    assert.deepEqual(await summary(), [
      ['here', 'pending'],
      ['elsewhere', 'pending'],
    ])
  })

  it('counts every trade of a prepared transaction for its agent, also those that are more than the order', async () => {
    const spendUsd = 1_000n * 10n ** 18n
    const spent = () => readSpentUsd(fake.opened.store.read, CHAIN, AGENT, utcDayOf(START_MS))
    const withdrawn = attempt(SECOND, { withdrawnAtMs: START_MS })
    const resting = orderRecord(2, { type: 'limit', price: '59000' as Decimal })
    await fake.prepare({ ...orderRecord(1), spendUsd: Usd.of(spendUsd) }, attempt(FIRST), withdrawn)
    await fake.prepare({ ...resting, spendUsd: Usd.of(spendUsd) }, attempt(attemptId('03')))
    fake.node.mine({ from: BOB, events: [requested({ index: 9 })] })
    const trades = (): void => {
      const limit = (index: number) => stored({ tradeType: 1, index }, 1_000)
      fake.node.mine({ from: AGENT, input: attempt(FIRST).calldata, hash: txHash('71'), events: [requested()] })
      fake.node.mine(
        { from: AGENT, input: withdrawn.calldata, hash: txHash('72'), events: [requested({ index: 1 })] },
        { from: AGENT, input: attempt(FIRST).calldata, hash: txHash('73'), events: [requested({ index: 2 })] },
        { from: AGENT, input: attempt(attemptId('03')).calldata, hash: txHash('74'), events: [limit(4)] },
        { from: AGENT, input: attempt(attemptId('03')).calldata, hash: txHash('75'), events: [limit(5)] },
      )
    }
    trades()
    await fake.follow()
    assert.equal(await spent(), 5n * spendUsd)
    const before = await allOrders()
    assert.equal(before.length, 6)

    // Undoing the blocks gives their spend back; mined again, the trades get the same order ids.
    fake.node.rewind(2)
    for (let i = 0; i < 3; i += 1) fake.node.mine()
    await fake.follow()
    assert.equal(await spent(), 2n * spendUsd, 'the two that are prepared')
    trades()
    await fake.follow()
    assert.equal(await spent(), 5n * spendUsd)
    assert.deepEqual(
      (await allOrders()).map(({ record }) => [record.id, record.agent]),
      before.map(({ record }) => [record.id, record.agent]),
    )

    // A refused order gives back the amount that it counted.
    const orderId = { user: ALICE, index: 2 }
    const args = { orderId, trader: ALICE, pairIndex: 0n, cancelReason: 1, collateralReturned: 1n }
    fake.node.mine({ from: ORACLE, events: [{ name: 'MarketOpenCanceled', args }] })
    await fake.follow()
    assert.equal(await spent(), 4n * spendUsd)
  })

  it('moves to the order it was prepared for when it is reported after it was mined; the position keeps its id', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(FIRST))
    fake.node.mine({ from: WALLET, to: WALLET, hash: HASH, events: [requested()] })
    fake.node.mine({ from: ORACLE, events: [stored(), feesProcessed(), executed()] })
    await fake.follow()
    const [, elsewhere] = await allOrders()
    const position = await findPositionByOrigin(fake.opened.store.read, elsewhere!.record.id)
    await fake.report(id, FIRST, HASH)
    fake.node.mine()
    await fake.follow()
    assert.deepEqual(await summary(), [['here', 'filled']])
    const { state } = await fake.order(id)
    assert.equal(state?.fill?.positionId, position?.record.id)

    fake.node.rewind(3)
    fake.node.mine()
    fake.node.mine({ from: WALLET, to: WALLET, hash: HASH, events: [requested()] })
    fake.node.mine({ from: ORACLE, events: [stored(), feesProcessed(), executed()] })
    fake.node.mine()
    await fake.follow()
    assert.deepEqual(await summary(), [['here', 'filled']])
    assert.equal((await fake.order(id)).state?.fill?.positionId, position?.record.id)
  })

  it('brings an order back under the same id when it replaces it', async () => {
    const resting = { type: 'limit', price: '59000' as Decimal } as const
    const replacement = attempt(SECOND, { kind: 'replace', size: '0.05' as Decimal })
    const id = await fake.prepare(orderRecord(1, resting), attempt(FIRST), replacement)
    const placed = stored({ tradeType: 1, index: 4 }, 1_000)
    fake.node.mine({ from: AGENT, input: attempt(FIRST).calldata, events: [placed] })
    fake.node.mine({
      from: AGENT,
      input: replacement.calldata,
      events: [
        { name: 'OpenLimitCanceled', args: { trader: ALICE, pairIndex: 0, index: 4 } },
        stored({ tradeType: 1, index: 5 }, 1_000),
      ],
    })
    await fake.follow()
    const { state } = await fake.order(id)
    assert.deepEqual([state?.status, state?.tradeIndex, state?.size], ['open', 5, '0.05'])
    assert.deepEqual(await summary(), [['here', 'open']])
  })

  it('closes several positions as one order', async () => {
    fake.node.mine({ from: BOB, events: [requested(), requested({ index: 1 })] })
    fake.node.mine(
      { from: ORACLE, events: [stored(), executed()] },
      { from: ORACLE, events: [stored({ index: 1 }), executed({ pendingIndex: 1, trade: { index: 1 } })] },
    )
    await fake.follow()
    const positions = (await allOrders()).map(({ state }) => state!.fill!.positionId as OrderId)
    const legs = positions.map((positionId, tradeIndex) => ({ positionId, tradeIndex, size: '0.016' as Decimal }))
    const close = orderRecord(1, { kind: 'close', side: 'short', reduceOnly: true, legs })
    const id = await fake.prepare(close, attempt(FIRST))
    const leg = (index: number, tradeIndex: number) =>
      requested({ index, orderType: 1, trade: { ...chainTrade({ leverage: 0 }), index: tradeIndex } })
    fake.node.mine({ from: AGENT, input: attempt(FIRST).calldata, events: [leg(2, 0), leg(3, 1)] })
    await fake.follow()
    assert.deepEqual((await fake.order(id)).state?.unanswered, [2, 3])
    const done = (pendingIndex: number, index: number) => executed({ pendingIndex, open: false, trade: { index } })
    fake.node.mine({ from: ORACLE, events: [done(2, 0)] }, { from: ORACLE, events: [done(3, 1)] })
    await fake.follow()
    const { state } = await fake.order(id)
    assert.deepEqual([state?.status, state?.fill?.size], ['filled', '0.032'])
  })
})

describe('a transaction that fails', () => {
  let fake: FollowedFake
  beforeEach(async () => {
    fake = await openFollowedFake()
    fake.node.mine()
  })
  afterEach(() => fake.opened.remove())

  it('rejects the order it was prepared for, until a reorganisation takes it back', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(FIRST))
    fake.node.mine({ from: BOB }, { from: AGENT, input: attempt(FIRST).calldata, isReverted: true })
    await fake.follow()
    assert.deepEqual((await fake.order(id)).state?.status, 'rejected')
    assert.deepEqual((await fake.order(id)).state?.reason, 'OTHER')
    fake.node.rewind(1)
    fake.node.mine()
    fake.node.mine()
    await fake.follow()
    assert.deepEqual((await fake.order(id)).state?.status, 'prepared')
  })

  it('says nothing when somebody else sent a copy of it', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(FIRST))
    fake.node.mine({ from: BOB, input: attempt(FIRST).calldata, isReverted: true })
    await fake.follow()
    assert.deepEqual((await fake.order(id)).state?.status, 'prepared')
  })

  it('of another order does not count for the one it was reported for', async () => {
    const theirs = await fake.prepare(orderRecord(1), attempt(FIRST))
    const ours = await fake.prepare(orderRecord(2), attempt(SECOND, { submittedHash: HASH, submittedAtMs: 1 }))
    fake.node.mine({ from: AGENT, input: attempt(FIRST).calldata, hash: HASH, isReverted: true })
    await fake.follow()
    assert.deepEqual((await fake.order(theirs)).state?.status, 'rejected')
    assert.deepEqual((await fake.order(ours)).state?.status, 'prepared')
  })

  it('is found by its receipt when it was reported, also long after it was mined', async () => {
    const early = attempt(FIRST, { submittedHash: HASH, submittedAtMs: 1 })
    const id = await fake.prepare(orderRecord(1), early)
    const late = await fake.prepare(orderRecord(2), attempt(SECOND))
    const other = txHash('78')
    fake.node.mine(
      { from: WALLET, to: WALLET, hash: HASH, isReverted: true },
      { from: WALLET, to: WALLET, hash: other, isReverted: true },
    )
    await fake.follow()
    assert.deepEqual((await fake.order(id)).state?.status, 'rejected')
    assert.deepEqual((await fake.order(late)).state?.status, 'prepared')
    await fake.report(late, SECOND, other)
    for (let i = 0; i < 3; i += 1) fake.node.mine()
    await fake.follow()
    assert.deepEqual((await fake.order(late)).state?.status, 'rejected')
    fake.node.rewind(4)
    for (let i = 0; i < 5; i += 1) fake.node.mine()
    await fake.follow()
    assert.notEqual((await fake.order(late)).state?.status, 'rejected')
  })

  it('is found also when it expired while nobody followed, and lies further back than blocks are read one by one', async () => {
    const id = await fake.prepare(orderRecord(1), attempt(FIRST))
    await fake.follow()
    await fake.report(id, FIRST, HASH)
    const { calldata } = attempt(FIRST)
    fake.node.mine({ from: AGENT, input: calldata, hash: HASH, events: [], isReverted: true })
    for (let i = 0; i < 40; i += 1) fake.node.mine()
    fake.nowMs += 10_000_000
    await fake.restart()
    await fake.follow()
    fake.node.mine()
    await fake.follow()
    assert.deepEqual((await fake.order(id)).state?.status, 'rejected')
  })
})
