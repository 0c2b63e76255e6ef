import type { OrderChange, OrderState } from '../trading/orders/orderModel.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type Address, DAY_MS } from '@bezel/protocol'
import { forgetEventsBefore, listLogsBefore, appendEvents, listEvents } from '../store/accountEventStore.ts'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { orderRecord } from '../follower/testing/handMade.ts'
import { aFill, decimal } from '../trading/orders/testing/orderHistory.ts'
import { OFF_CHAIN, type AccountLog, type Changes, forgetOldEvents } from './accountLog.ts'
import { openTestLog } from './testing/testLog.ts'
import { until } from '@bezel/testkit/until.ts'
import type { SqlValue, Store } from '../store/sql.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const OWNER = { chain: 'base', trader: '0x00000000000000000000000000000000000000A1' as Address } as const

const ALICE = orderRecord(1).trader

const BOB = '0x00000000000000000000000000000000000000b0' as Address

const PREPARED: OrderState = {
  status: 'prepared',
  size: decimal('1'),
  price: null,
  sl: null,
  tp: null,
  slippage: decimal('1'),
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
}

const FILL = aFill({ price: '1', size: '1', positionId: '7' })

const FILLED: OrderState = { ...PREPARED, status: 'filled', fill: FILL, expiresAtMs: null }

describe('the log of an account', () => {
  let opened: TestStore
  let log: AccountLog
  let commits: Changes[]
  let woken: Address[]
  let nowMs: number

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    commits = []
    woken = []
    nowMs = 10
    log = openTestLog(
      opened.store,
      'arbitrum',
      (changes) => commits.push(changes),
      () => nowMs,
    )
    log.onAppend((trader) => woken.push(trader))
  })
  afterEach(() => opened.remove())

  const change = (
    before: OrderState | undefined,
    after: OrderState | undefined,
    trader: Address = ALICE,
  ): OrderChange => ({ record: { ...orderRecord(1), trader }, before, after })

  const told = (changes: readonly OrderChange[], origin = OFF_CHAIN) =>
    log.transaction({ chain: 'base' }, origin, async (_sql, journal) => changes.forEach((one) => journal.order(one)))

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
    assert.deepEqual(await log.keptSeqs(ALICE), { first: 1, last: 3 })
    assert.equal(await log.lastSeq(ALICE), 3)
    assert.deepEqual(woken, [ALICE, BOB, BOB])
    assert.deepEqual(
      (await log.read(ALICE, { after: 1, limit: 1 })).map(({ seq }) => seq),
      [2],
    )
  })

  it('tells a fill on both channels, with the same text, and once', async () => {
    const block = { block: 7, isReorg: false }
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
    const undone = { block: 7, isReorg: true }
    await told([change(undefined, FILLED)], { ...undone, isReorg: false })
    await told([change(FILLED, PREPARED)], undone)
    await told([change(FILLED, undefined)], { ...undone, isReorg: false })
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
    await told([change(PREPARED, { ...PREPARED, status: 'expired' })], { block: 7, isReorg: false })
    assert.deepEqual(await short(), [[1, 'orders', null, false, 'expired']])
  })

  it('says the same of a reported hash that was given up', async () => {
    const txHash = `0x${'7'.repeat(64)}` as OrderState['txHash']
    const sent = { ...PREPARED, status: 'pending', txHash } as const
    await told([change(sent, { ...sent, status: 'prepared' })], { block: 7, isReorg: false })
    assert.deepEqual(await short(), [[1, 'orders', null, false, 'prepared']])
  })

  it('is silent about what changed only inside', async () => {
    await told([change(PREPARED, { ...PREPARED, dueAtMs: 9, countedSinceMs: 4 })])
    assert.deepEqual([await all(), woken], [[], []])
    assert.equal(commits.length, 1, 'the change itself is known all the same')
  })

  it('goes on when somebody who is told of a commit fails', async () => {
    log = openTestLog(opened.store, 'arbitrum', () => {
      throw new Error('a reader')
    })
    log.onAppend(() => {
      throw new Error('another')
    })
    log.onAppend((trader) => woken.push(trader))
    await told([change(undefined, PREPARED)])
    assert.deepEqual([woken, await log.lastSeq(ALICE)], [[ALICE], 1])
  })

  it('keeps nothing and wakes nobody when the transaction fails', async () => {
    const failing = log.transaction({ chain: 'base' }, OFF_CHAIN, async (_sql, journal) => {
      journal.order(change(undefined, PREPARED))
      throw new Error('no')
    })
    await assert.rejects(failing, /no/)
    assert.deepEqual([await all(), woken, commits], [[], [], []])
    await told([change(undefined, PREPARED)])
    assert.deepEqual(
      (await all()).map(({ seq }) => seq),
      [1],
    )
  })

  it('takes the first look at an account as it is and tells every difference from then on, also after a restart', async () => {
    const look = (text: string) => log.account(ALICE, { holdings: text, text })
    assert.equal(await look('{"a":1}'), 'unchanged')
    assert.equal(await look('{"a":1}'), 'unchanged')
    assert.equal(await look('{"a":2}'), 'appended')
    log = openTestLog(opened.store, 'arbitrum')
    assert.equal(await look('{"a":2}'), 'unchanged')
    assert.equal(await look('{"a":1}'), 'appended')
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
    await log.account(ALICE, { holdings: '1', text: '1' })
    const seen = await Promise.all(Array.from({ length: 5 }, () => log.account(ALICE, { holdings: '2', text: '2' })))
    assert.deepEqual(
      seen.filter((outcome) => outcome !== 'unchanged'),
      ['appended'],
    )
    assert.equal(await log.lastSeq(ALICE), 1)
  })

  it('tells nothing of an earlier block than before, whoever read it', async () => {
    const look = (holdings: string, from: number, to = from) =>
      log.account(ALICE, { holdings, text: holdings, blocks: { from, to } })
    assert.equal(await look('1', 10), 'unchanged')
    assert.equal(await look('2', 12, 14), 'appended')
    assert.equal(await look('1', 11), 'older')
    assert.equal(await look('1', 13, 15), 'older', 'it may be of block 13, and what was told of block 14')
    assert.equal(await look('2', 11), 'unchanged')
    assert.equal(await look('3', 14), 'appended')
    assert.deepEqual(
      (await all()).map(({ data }) => data),
      ['2', '3'],
    )
    await Promise.all([look('5', 16), look('4', 15)])
    assert.equal((await all()).at(-1)?.data, '5', 'whoever comes first')
  })

  it('gives each event the time of its turn, so that times do not run backwards', async () => {
    const first = told([change(undefined, PREPARED)])
    const second = log
      .account(ALICE, { holdings: '1', text: '1' })
      .then(() => log.account(ALICE, { holdings: '2', text: '2' }))
    nowMs = 20
    const slow = opened.store.transaction(TEST_SCOPE, async () => void (nowMs = 30))
    await Promise.all([first, second, slow])
    await told([change(undefined, PREPARED)])
    const times = (await all()).map(({ timestampMs }) => timestampMs)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
  })

  it('can forget what is old without a hole in the rest, and never counts back', async () => {
    for (nowMs of [10, 20, 30]) await told([change(undefined, PREPARED)])
    const forget = async (beforeMs: number, limit: number): Promise<void> => {
      const { old } = await listLogsBefore(opened.store.read, beforeMs, { after: 0n, limit: 9 })
      for (const id of old) {
        await opened.store.transaction(TEST_SCOPE, (sql) => forgetEventsBefore(sql, id, beforeMs, limit))
      }
    }
    await forget(30, 1)
    assert.equal((await log.keptSeqs(ALICE)).first, 2)
    await forget(30, 10)
    assert.deepEqual(await log.keptSeqs(ALICE), { first: 3, last: 3 })
    await forget(100, 10)
    assert.deepEqual(await log.keptSeqs(ALICE), { first: 4, last: 3 })
    nowMs = 40
    await told([change(undefined, PREPARED)])
    assert.deepEqual(
      (await all()).map(({ seq }) => seq),
      [4],
    )
  })
})

describe('forgetting old events', () => {
  it('keeps the days of the setting, or all', async () => {
    const { store, remove } = openTestStore()
    await migrate(store)
    const event = { channel: 'account', block: null, isReverted: false, data: '1' } as const
    const days = [1, 2, 3, 4].map((day) => ({ ...event, timestampMs: day * DAY_MS }))
    await store.transaction(TEST_SCOPE, (sql) => appendEvents(sql, OWNER, days))
    const seqs = async () => (await listEvents(store.read, OWNER, { after: 0, limit: 9 })).map(({ seq }) => seq)
    const of = { store, now: () => 4 * DAY_MS, onError: (error: unknown) => assert.fail(String(error)), roundMs: 5 }

    await forgetOldEvents({ ...of, keepDays: 0 })()
    assert.deepEqual(await seqs(), [1, 2, 3, 4])
    const end = forgetOldEvents({ ...of, keepDays: 2 })
    await until('the first is gone', async () => (await seqs()).length === 3)
    await end()
    assert.deepEqual(await seqs(), [2, 3, 4])
    await remove()
  })

  it('looks at few logs at a time, and at all of them', async () => {
    const { store, remove } = openTestStore()
    await migrate(store)
    const logs = 1_203
    await store.transaction(TEST_SCOPE, async (sql) => {
      const rows = `with recursive n (id) as (select 1 union all select id + 1 from n where id < ${logs})`
      await sql.run(
        `insert into account_logs (id, chain, trader, last_seq) ${rows} select id, 'base', 'trader ' || id, 2 from n`,
      )
      for (const seq of [1, 2]) {
        await sql.run(
          `insert into account_events (log_id, seq, channel, timestamp, is_reverted, data)
           ${rows} select id, ${seq}, 'account', ${seq * DAY_MS}, 0, '1' from n`,
        )
      }
    })
    const looks: number[] = []
    const all: Store['read']['all'] = async <Row>(text: string, ...params: readonly SqlValue[]) => {
      const found = await store.read.all<Row>(text, ...params)
      if (text.includes('account_logs')) looks.push(found.length)
      return found
    }
    const watched = { ...store, read: { ...store.read, all } }
    const left = async () => (await store.read.get<{ c: bigint }>('select count(*) as c from account_events'))!.c
    const end = forgetOldEvents({
      store: watched,
      now: () => 3.5 * DAY_MS,
      keepDays: 2,
      onError: (error: unknown) => assert.fail(String(error)),
    })
    await until('the first of every log is gone', async () => (await left()) === BigInt(logs))
    await end()
    assert.deepEqual(looks, [500, 500, 203, 0])
    await remove()
  })
})
