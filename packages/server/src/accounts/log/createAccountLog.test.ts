import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import type { OrderChange } from '../../orders/refoldOrder.ts'
import { forgetEventsBefore } from '../../store/accountEventStore.ts'
import { migrate } from '../../store/migrate.ts'
import { openTestStore, type TestStore } from '../../store/testStore.ts'
import { orderRecord } from '../../chain/follower/testing/handMade.ts'
import type { OrderState } from '../../trading/orders/orderModel.ts'
import { offChain, type AccountLog, type Changes } from './accountLog.ts'
import { openTestLog } from './testing/testLog.ts'

const ALICE = orderRecord(1).trader
const BOB = '0x00000000000000000000000000000000000000b0' as Address

const PREPARED: OrderState = {
  status: 'prepared',
  size: '1',
  price: null,
  sl: null,
  tp: null,
  slippage: '1',
  txHash: null,
  expiresAtMs: 5,
  fill: null,
  reason: null,
  updatedAtMs: 1,
  tradeIndex: null,
  unanswered: [],
  dueAtMs: 5,
  dueBlock: null,
  countedSinceMs: 1,
} as unknown as OrderState

const FILL = { price: '1', size: '1', positionId: '7' } as unknown as OrderState['fill']
const FILLED: OrderState = { ...PREPARED, status: 'filled', fill: FILL, expiresAtMs: null }

describe('the log of an account', () => {
  let opened: TestStore
  let log: AccountLog
  let commits: Changes[]
  let woken: Address[]

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    commits = []
    woken = []
    log = openTestLog(opened.store, 'arbitrum', (changes) => commits.push(changes))
    log.onAppend((trader) => woken.push(trader))
  })
  afterEach(() => opened.remove())

  const change = (
    before: OrderState | undefined,
    after: OrderState | undefined,
    trader: Address = ALICE,
  ): OrderChange => ({ record: { ...orderRecord(1), trader }, before, after })

  const told = (changes: readonly OrderChange[], cause = offChain(10)) =>
    log.transaction(
      () => cause,
      async (_sql, journal) => changes.forEach((one) => journal.order(one)),
    )

  const all = (trader: Address = ALICE) => log.read(trader, { after: 0, limit: 1_000 })
  const short = async () =>
    (await all()).map(({ seq, channel, block, isReverted, data }) => [
      seq,
      channel,
      block,
      isReverted,
      (JSON.parse(data) as { status: string }).status,
    ])

  it('numbers the events of each trader on its own, without a hole', async () => {
    await told([change(undefined, PREPARED), change(undefined, PREPARED, BOB), change(PREPARED, FILLED)])
    await told([change(undefined, PREPARED, BOB)])
    assert.deepEqual(
      (await all()).map(({ seq }) => seq),
      [1, 2, 3],
    )
    assert.deepEqual(
      (await all(BOB)).map(({ seq }) => seq),
      [1, 2],
    )
    assert.deepEqual([await log.lastSeq(ALICE), await log.firstSeq(ALICE)], [3, 1])
    assert.deepEqual(woken, [ALICE, BOB, BOB])
    assert.deepEqual(
      (await log.read(ALICE, { after: 1, limit: 1 })).map(({ seq }) => seq),
      [2],
    )
  })

  it('tells a fill on both channels, with the same text, and once', async () => {
    const block = { nowMs: 10, block: 7, isReorg: false }
    await told([change(PREPARED, FILLED)], block)
    await told([change(FILLED, { ...FILLED, updatedAtMs: 9 })], block)
    assert.deepEqual(await short(), [
      [1, 'orders', 7, false, 'filled'],
      [2, 'fills', 7, false, 'filled'],
      [3, 'orders', 7, false, 'filled'],
    ])
    const [order, fill] = await all()
    assert.equal(order?.data, fill?.data)
  })

  it('corrects what a reorganisation took back: the order, the fill, and an order that is no more', async () => {
    const undone = { nowMs: 20, block: 7, isReorg: true }
    await told([change(undefined, FILLED)], { ...undone, isReorg: false })
    await told([change(FILLED, PREPARED)], undone)
    await told([change(FILLED, undefined)], undone)
    assert.deepEqual((await short()).slice(2), [
      [3, 'orders', 7, true, 'prepared'],
      [4, 'fills', 7, true, 'prepared'],
      [5, 'orders', 7, true, 'expired'],
      [6, 'fills', 7, true, 'expired'],
    ])
    const { fill, txHash } = JSON.parse((await all()).at(-1)!.data) as { fill: unknown; txHash: unknown }
    assert.deepEqual([fill, txHash], [null, null])
  })

  it('says that time, and no block, ended what was prepared', async () => {
    await told([change(PREPARED, { ...PREPARED, status: 'expired' })], { nowMs: 10, block: 7, isReorg: false })
    assert.deepEqual(await short(), [[1, 'orders', null, false, 'expired']])
  })

  it('is silent about what changed only inside', async () => {
    await told([change(PREPARED, { ...PREPARED, dueAtMs: 9, countedSinceMs: 4 })])
    assert.deepEqual([await all(), woken], [[], []])
    assert.equal(commits.length, 1, 'the change itself is known all the same')
  })

  it('keeps nothing and wakes nobody when the transaction fails', async () => {
    const failing = log.transaction(
      () => offChain(1),
      async (_sql, journal) => {
        journal.order(change(undefined, PREPARED))
        throw new Error('no')
      },
    )
    await assert.rejects(failing, /no/)
    assert.deepEqual([await all(), woken, commits], [[], [], []])
    await told([change(undefined, PREPARED)])
    assert.deepEqual(
      (await all()).map(({ seq }) => seq),
      [1],
    )
  })

  it('takes the first look at an account as it is and tells every difference from then on, also after a restart', async () => {
    const look = (text: string) => log.account(ALICE, { text, nowMs: 3 })
    assert.equal(await look('{"a":1}'), false)
    assert.equal(await look('{"a":1}'), false)
    assert.equal(await look('{"a":2}'), true)
    log = openTestLog(opened.store, 'arbitrum')
    assert.equal(await look('{"a":2}'), false)
    assert.equal(await look('{"a":1}'), true)
    assert.deepEqual(
      (await all()).map(({ seq, channel, data }) => [seq, channel, data]),
      [
        [1, 'account', '{"a":2}'],
        [2, 'account', '{"a":1}'],
      ],
    )
    assert.equal(await openTestLog(opened.store, 'base').lastSeq(ALICE), 0, 'another chain is another log')
  })

  it('tells a difference once, however many see it together', async () => {
    await log.account(ALICE, { text: '1', nowMs: 3 })
    const seen = await Promise.all(Array.from({ length: 5 }, () => log.account(ALICE, { text: '2', nowMs: 4 })))
    assert.deepEqual(seen.filter(Boolean), [true])
    assert.equal(await log.lastSeq(ALICE), 1)
  })

  it('can forget what is old without a hole in the rest, and never counts back', async () => {
    for (const nowMs of [10, 20, 30]) await told([change(undefined, PREPARED)], offChain(nowMs))
    await opened.store.transaction((sql) => forgetEventsBefore(sql, 30, 1))
    assert.equal(await log.firstSeq(ALICE), 2)
    await opened.store.transaction((sql) => forgetEventsBefore(sql, 30, 10))
    assert.deepEqual([await log.firstSeq(ALICE), await log.lastSeq(ALICE)], [3, 3])
    await opened.store.transaction((sql) => forgetEventsBefore(sql, 100, 10))
    assert.deepEqual([await log.firstSeq(ALICE), await log.lastSeq(ALICE)], [4, 3])
    await told([change(undefined, PREPARED)], offChain(40))
    assert.deepEqual(
      (await all()).map(({ seq }) => seq),
      [4],
    )
  })
})
