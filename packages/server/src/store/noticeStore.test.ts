import {
  EVERYBODY,
  type NoticeKey,
  type Notice,
  deleteExpiredNotices,
  dismissNotice,
  endNotice,
  hasExpiredNotices,
  listNoticeKeys,
  listNotices,
  saveNotice,
  takeNoticeIds,
  withdrawNotice,
} from './noticeStore.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { NotificationSchema, parseAddress, type NotificationType } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { loadDelegations, saveDelegation } from './agentStore.ts'
import { migrate } from './openStore.ts'
import type { Sql } from './sql.ts'
import { ON_POSTGRES, ON_SQLITE, openTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

const ALICE = parseAddress(`0x${'a1'.repeat(20)}`)!
const BOB = parseAddress(`0x${'b2'.repeat(20)}`)!
const NOW_MS = 1_000_000

function key(subject: string, type: NotificationType = 'order_filled'): NoticeKey {
  return { chain: 'base', type, subject }
}

function aNotice(subject: string, changes: Partial<Notice> = {}): Notice {
  return {
    trader: ALICE,
    key: key(subject),
    content: {
      severity: 'info',
      title: 'Order filled',
      message: `Order ${subject} was filled.`,
      market: 'BTC/USD',
      orderId: '7',
      positionId: null,
      link: '/v1/base/orders/7',
    },
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 1_000,
    ...changes,
  }
}

describe('the store of notices', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const write = <Result>(work: (sql: Sql) => Promise<Result>) => opened.store.transaction(TEST_SCOPE, work)
  const tell = (...notices: Notice[]) =>
    write(async (sql) => {
      const ids = await takeNoticeIds(sql, notices.length)
      for (const [at, notice] of notices.entries()) await saveNotice(sql, ids[at]!, notice)
      return ids[0]!
    })
  const list = (trader = ALICE, nowMs = NOW_MS, limit = 200) => listNotices(opened.store.read, trader, { nowMs, limit })
  const idsOf = async (trader = ALICE, nowMs = NOW_MS) => (await list(trader, nowMs)).map(({ id }) => id)

  it('forgets no notice that another transaction renews meanwhile', ON_POSTGRES, async () => {
    await tell(aNotice('1', { expiresAtMs: NOW_MS }), aNotice('2', { expiresAtMs: NOW_MS }))
    const renewed = Promise.withResolvers<void>()
    const looked = Promise.withResolvers<void>()
    const renewing = opened.store.transaction({ name: 'notices' }, async (sql) => {
      await saveNotice(sql, 9, aNotice('1', { expiresAtMs: NOW_MS + 1_000 }))
      await sql.get('select 1 as one')
      renewed.resolve()
      await looked.promise
    })
    await renewed.promise
    const deleted = await opened.store.transaction({ name: 'cleanup' }, async (sql) => {
      const count = await deleteExpiredNotices(sql, NOW_MS, 10)
      looked.resolve()
      return count
    })
    await renewing
    assert.deepEqual([deleted, await idsOf()], [1, [1]])
  })

  it('gives ids of a sequence of its own, none twice, across a restart', async () => {
    assert.deepEqual(await write((sql) => takeNoticeIds(sql, 3)), [1, 2, 3])
    await opened.reopen()
    assert.deepEqual(await write((sql) => takeNoticeIds(sql, 1)), [4])
    assert.deepEqual(await write((sql) => takeNoticeIds(sql, 1)), [5])
  })

  it('lists what the interface shows, newest first', async () => {
    await tell(aNotice('1'), aNotice('2', { createdAtMs: NOW_MS - 10 }), aNotice('3'))
    const listed = await list()
    assert.deepEqual(
      listed.map(({ id }) => id),
      [3, 1, 2],
    )
    for (const notification of listed) assert.ok(Value.Check(NotificationSchema, notification))
    assert.deepEqual(await list(BOB), [])
  })

  it('lists no more than asked for, the newest of them', async () => {
    await tell(...Array.from({ length: 30 }, (_, at) => aNotice(String(at))))
    const listed = await list(ALICE, NOW_MS, 10)
    assert.deepEqual(
      listed.map(({ id }) => id),
      [30, 29, 28, 27, 26, 25, 24, 23, 22, 21],
    )
  })

  it('does not show what is over, nor what ends this moment', async () => {
    await tell(aNotice('1', { expiresAtMs: NOW_MS }), aNotice('2', { expiresAtMs: NOW_MS + 1 }))
    assert.deepEqual(await idsOf(), [2])
  })

  it('tells the same thing once: by the same id, with its newest words', async () => {
    await tell(aNotice('1'))
    const again = aNotice('1')
    await tell({ ...again, content: { ...again.content, message: 'At another price.' } })
    const [only, ...others] = await list()
    assert.deepEqual([only?.id, only?.message, others.length], [1, 'At another price.', 0])
  })

  it('keeps the id of what is withdrawn and told again, and it stays dismissed', async () => {
    await tell(aNotice('1'), aNotice('2'))
    await write((sql) => dismissNotice(sql, ALICE, 2))
    await write((sql) => withdrawNotice(sql, key('1')))
    await write((sql) => withdrawNotice(sql, key('2')))
    assert.deepEqual(await idsOf(), [])
    await tell(aNotice('1'), aNotice('2'))
    assert.deepEqual(await idsOf(), [1])
  })

  it('makes what ended something new when it comes again', async () => {
    await tell(aNotice('1'))
    await write((sql) => dismissNotice(sql, ALICE, 1))
    await write((sql) => endNotice(sql, key('1')))
    await tell(aNotice('1'))
    assert.deepEqual(await idsOf(), [2])
  })

  it('knows which of a kind stand on a chain', async () => {
    await tell(aNotice('1', { key: key('1', 'agent_expired') }), aNotice('2'))
    await tell(aNotice('3', { key: { ...key('3', 'agent_expired'), chain: 'arbitrum' } }))
    const types = ['agent_expiring', 'agent_expired'] as const
    assert.deepEqual(await listNoticeKeys(opened.store.read, 'base', types), [key('1', 'agent_expired')])
  })

  it('lets each dismiss for itself what is to everybody', async () => {
    await tell(aNotice('*', { trader: EVERYBODY, key: key('*', 'chain_paused'), expiresAtMs: null }))
    assert.ok(await write((sql) => dismissNotice(sql, ALICE, 1)))
    assert.deepEqual([await idsOf(ALICE), await idsOf(BOB)], [[], [1]])
  })

  it("dismisses no other wallet's notice, and none that is not there", async () => {
    await tell(aNotice('1'))
    assert.equal(await write((sql) => dismissNotice(sql, BOB, 1)), false)
    assert.equal(await write((sql) => dismissNotice(sql, ALICE, Number.MAX_SAFE_INTEGER)), false)
    assert.deepEqual(await idsOf(), [1])
    assert.ok(await write((sql) => dismissNotice(sql, ALICE, 1)))
    assert.ok(await write((sql) => dismissNotice(sql, ALICE, 1)), 'again')
    assert.deepEqual(await idsOf(), [])
  })

  it('lets go of what is over, a bounded number at a time, with its dismissals', async () => {
    await tell(aNotice('1'), aNotice('2'), aNotice('3'), aNotice('4', { expiresAtMs: null }))
    await write((sql) => dismissNotice(sql, ALICE, 1))
    const laterMs = NOW_MS + 1_000
    assert.equal(await hasExpiredNotices(opened.store.read, NOW_MS), false)
    assert.equal(await hasExpiredNotices(opened.store.read, laterMs), true)
    assert.deepEqual(
      [
        await write((sql) => deleteExpiredNotices(sql, laterMs, 2)),
        await write((sql) => deleteExpiredNotices(sql, laterMs, 2)),
        await write((sql) => deleteExpiredNotices(sql, laterMs, 2)),
      ],
      [2, 1, 0],
    )
    assert.deepEqual(await idsOf(ALICE, laterMs), [4])
    assert.deepEqual(await opened.store.read.all('select * from notice_dismissals'), [])
  })

  it('finds a page without looking through the whole table', ON_SQLITE, async () => {
    const plan = await opened.store.read.all<{ detail: string }>(
      `explain query plan select id from notices where trader = $1 and is_withdrawn = 0 order by id desc limit $2`,
      ALICE,
      1,
    )
    assert.ok(
      plan.every(({ detail }) => /SEARCH.*trader=\?/.test(detail)),
      JSON.stringify(plan.map(({ detail }) => detail)),
    )
  })

  it('remembers whom a trader was seen to let act', async () => {
    await write((sql) => saveDelegation(sql, { chain: 'base', trader: ALICE, agent: BOB }))
    await write((sql) => saveDelegation(sql, { chain: 'base', trader: ALICE, agent: ALICE }))
    await write((sql) => saveDelegation(sql, { chain: 'base', trader: BOB, agent: ALICE }))
    await write((sql) => saveDelegation(sql, { chain: 'base', trader: BOB, agent: undefined }))
    assert.deepEqual(await loadDelegations(opened.store.read, 'base'), new Map([[ALICE, ALICE]]))
    assert.deepEqual(await loadDelegations(opened.store.read, 'arbitrum'), new Map())
  })
})
