import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { PendingOrderType, type Decimal, type Hex, type OrderId } from '@bezel/protocol'
import { NO_JOURNAL } from '../journal/testing/testLog.ts'
import { refoldOrder } from '../journal/refold.ts'
import type { DiamondEvent } from '../chain/events.ts'
import { insertAttempt, listAttemptOrders, setSeen, setSubmitted } from '../store/attemptStore.ts'
import { listOrderEvents } from '../store/orderEventStore.ts'
import { insertOrder, listOrders, takeId } from '../store/orderStore.ts'
import type { Attempt, OrderRecord } from '../trading/orders/orderModel.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import {
  address,
  AGENT,
  ALICE,
  attempt,
  attemptId,
  CHAIN,
  executed,
  orderRecord,
  requested,
  stored,
  txHash,
} from './testing/handMade.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const OPENING = attemptId('0a')
const BATCH = attemptId('0b')
const OTHER = attemptId('0c')
const HASH = txHash('77')
const WALLET = address('5a')
const CALL = `0x${'5b'.repeat(40)}`

const RESTING_INDEX = 4

/** A close of the position with this index, for which the made-up chain has no position. */
function closeRecord(tradeIndex: number): OrderRecord {
  const size = '0.016' as Decimal
  const leg = { positionId: String(900 + tradeIndex) as OrderId, tradeIndex, size }
  return orderRecord(0, { kind: 'close', side: 'short', size, reduceOnly: true, legs: [leg] })
}

function closeRequested(tradeIndex: number): DiamondEvent {
  const trade = { index: tradeIndex }
  return requested({ index: 10 + tradeIndex, orderType: PendingOrderType.MARKET_CLOSE, trade })
}

const canceled: DiamondEvent = {
  name: 'OpenLimitCanceled',
  args: { trader: ALICE, pairIndex: 0, index: RESTING_INDEX },
}

describe('the orders of one transaction on the chain', () => {
  let fake: FollowedFake
  /** A resting order, and closes of the positions 1 and 2. */
  let ids: [OrderId, OrderId, OrderId]

  beforeEach(async () => {
    fake = await openFollowedFake()
    fake.node.mine()
    const resting = await fake.prepare(orderRecord(1, { type: 'limit', price: '50000' as Decimal }), attempt(OPENING))
    const trade = { tradeType: 1, index: RESTING_INDEX }
    fake.node.mine({ from: AGENT, input: attempt(OPENING).calldata, events: [stored(trade, 1_000)] })
    await fake.follow()
    ids = await prepareBatch(resting, attempt(BATCH, { calldata: `${CALL}${BATCH.slice(2)}` as Hex }))
    assert.deepEqual(await statuses(), ['open', 'prepared', 'prepared'])
  })
  afterEach(() => fake.opened.remove())

  /** Stores an attempt that cancels an order and closes two positions. */
  function prepareBatch(resting: OrderId, batch: Attempt): Promise<[OrderId, OrderId, OrderId]> {
    return fake.opened.store.transaction(TEST_SCOPE, async (sql) => {
      await insertAttempt(sql, { chain: CHAIN, orderId: resting, attempt: { ...batch, kind: 'cancel' } })
      const closes: OrderId[] = []
      for (const place of [1, 2]) {
        const id = await takeId(sql)
        await insertOrder(sql, { ...closeRecord(place), id })
        await insertAttempt(sql, { chain: CHAIN, orderId: id, attempt: batch, place })
        closes.push(id)
      }
      const clock = { nowMs: fake.nowMs, headBlock: 1, headMs: 0, timeoutBlocks: 200 }
      for (const id of closes) await refoldOrder(sql, id, clock, NO_JOURNAL)
      return [resting, closes[0]!, closes[1]!]
    })
  }

  const statuses = async () => Promise.all(ids.map(async (id) => (await fake.order(id)).state?.status))
  const attemptsOfEvents = async (id: OrderId) =>
    (await listOrderEvents(fake.opened.store.read, id)).map(({ kind, attemptId: by }) => [kind, by])
  const foreign = async () =>
    (await listOrders(fake.opened.store.read, CHAIN, ALICE, '9007199254740991' as OrderId, 100)).filter(
      ({ record }) => record.originKey !== null,
    )
  const events = [closeRequested(2), canceled, closeRequested(1)]
  const exact = { from: AGENT, input: `${CALL}${BATCH.slice(2)}` as Hex, hash: HASH }

  it('are each known by the id behind the calldata, in whatever order its logs are', async () => {
    fake.node.mine({ ...exact, events })
    await fake.follow()
    assert.deepEqual(await statuses(), ['canceled', 'pending', 'pending'])
    assert.deepEqual((await attemptsOfEvents(ids[0])).at(-1), ['canceled', BATCH])
    assert.deepEqual(await attemptsOfEvents(ids[1]), [['requested', BATCH]])
    const requests = await Promise.all(ids.slice(1).map((id) => listOrderEvents(fake.opened.store.read, id)))
    assert.deepEqual(
      requests.map(([event]) => event?.kind === 'requested' && event.tradeIndex),
      [1, 2],
    )
    assert.deepEqual(await foreign(), [])
    fake.node.mine({ from: AGENT, events: [executed({ pendingIndex: 12, open: false, trade: { index: 2 } })] })
    await fake.follow()
    assert.deepEqual(await statuses(), ['canceled', 'pending', 'filled'])
  })

  it('are taken back with their block, and come again with another', async () => {
    fake.node.mine({ ...exact, events })
    await fake.follow()
    fake.node.rewind(1)
    fake.node.mine()
    fake.node.mine()
    await fake.follow()
    assert.deepEqual(await statuses(), ['open', 'prepared', 'prepared'])
    fake.node.mine({ ...exact, events })
    await fake.follow()
    assert.deepEqual(await statuses(), ['canceled', 'pending', 'pending'])
  })

  it('are rejected together when it reverts, the cancelled order rests on, and a reorganisation undoes it', async () => {
    fake.node.mine({ ...exact, isReverted: true })
    await fake.follow()
    assert.deepEqual(await statuses(), ['open', 'rejected', 'rejected'])
    for (const id of ids) assert.deepEqual((await attemptsOfEvents(id)).at(-1), ['reverted', BATCH])
    assert.equal((await fake.order(ids[2])).state?.reason, 'OTHER')
    fake.node.rewind(1)
    fake.node.mine()
    fake.node.mine({ ...exact, events })
    await fake.follow()
    assert.deepEqual(await statuses(), ['canceled', 'pending', 'pending'])
  })

  it('are not rejected when a stranger lets a copy of it revert', async () => {
    fake.node.mine({ ...exact, from: WALLET, isReverted: true })
    await fake.follow()
    assert.deepEqual(await statuses(), ['open', 'prepared', 'prepared'])
  })

  it('are known by the call when a wallet drops the bytes behind it', async () => {
    fake.node.mine({ from: AGENT, input: CALL as Hex, events })
    await fake.follow()
    assert.deepEqual(await statuses(), ['canceled', 'pending', 'pending'])
    assert.deepEqual(await attemptsOfEvents(ids[2]), [['requested', BATCH]])
    assert.deepEqual(await foreign(), [])
  })

  it('are known by the hash that was reported for one of them', async () => {
    await fake.report(ids[1], BATCH, HASH)
    fake.node.mine({ from: WALLET, to: WALLET, input: '0x1234' as Hex, hash: HASH, events })
    await fake.follow()
    assert.deepEqual(await statuses(), ['canceled', 'pending', 'pending'])
    const rows = await listAttemptOrders(fake.opened.store.read, BATCH)
    assert.deepEqual(
      rows.map((row) => row.attempt.isMismatch),
      [false, false, false],
    )
  })

  it('are rejected by the receipt of a reported hash that reverted, and only they', async () => {
    const other = await fake.prepare(orderRecord(9), attempt(OTHER, { submittedHash: HASH, submittedAtMs: 1 }))
    await fake.report(ids[1], BATCH, HASH)
    for (const id of ids.slice(1)) await fake.report(id, BATCH, HASH)
    fake.node.mine({ ...exact, isReverted: true })
    await fake.follow()
    assert.deepEqual(await statuses(), ['open', 'rejected', 'rejected'])
    const [mark] = await listAttemptOrders(fake.opened.store.read, OTHER)
    assert.equal(mark?.attempt.isMismatch, true)
    assert.equal((await fake.order(other)).state?.status, 'prepared')
  })

  it('lose the hash each by itself when it was mined as something else', async () => {
    for (const id of ids.slice(1)) await fake.report(id, BATCH, HASH)
    fake.node.mine({ from: WALLET, to: WALLET, input: '0x1234' as Hex, hash: HASH, events: [closeRequested(2)] })
    await fake.follow()
    assert.deepEqual(await statuses(), ['open', 'prepared', 'pending'])
    const rows = await listAttemptOrders(fake.opened.store.read, BATCH)
    assert.deepEqual(
      rows.map((row) => row.attempt.isMismatch),
      [true, true, false],
    )
  })

  it('are all seen when a node knows the hash', async () => {
    await fake.opened.store.transaction(TEST_SCOPE, async (sql) => {
      await setSubmitted(sql, BATCH, { hash: HASH, submittedAtMs: 1, trustedUntilMs: 5 })
      assert.deepEqual(await setSeen(sql, CHAIN, { hash: HASH, from: AGENT }, 10), ids)
    })
  })
})
