import type { OrderChange } from '../trading/orders/orderChange.ts'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { OrderId } from '@bezel/protocol'
import { migrate } from '../store/migrate.ts'
import { dismissNotice, listNotices } from '../store/noticeStore.ts'
import type { Sql } from '../store/sql.ts'
import { openTestStore, type TestStore } from '../store/testStore.ts'
import { anOrder, MARKET_ORDER } from '../trading/orders/testing/orderHistory.ts'
import { aChange, aFill, aState, CAUSE, NOW_MS } from './testing/orderChanges.ts'
import { writeNotices } from './writeNotices.ts'

describe('notices of orders in the store', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const commit = (orders: readonly OrderChange[], isReorg = false) =>
    opened.store.transaction((sql) => writeNotices(sql, { orders, cause: { ...CAUSE, isReorg } }))
  const shown = () => listNotices(opened.store.read, MARKET_ORDER.trader, { nowMs: NOW_MS, limit: 200 })
  const filled = aChange(MARKET_ORDER, aState('pending'), aState('filled'))
  const undone = aChange(MARKET_ORDER, aState('filled'), aState('pending'))

  it('are taken back with a block, and keep their id when it is mined again', async () => {
    await commit([filled])
    const [first] = await shown()
    await commit([undone], true)
    assert.deepEqual(await shown(), [])
    const elsewhere = aState('filled', { fill: aFill({ price: '60001', timestamp: NOW_MS }) })
    await commit([aChange(MARKET_ORDER, aState('pending'), elsewhere)])
    const [again, ...others] = await shown()
    assert.deepEqual([again?.id, others.length], [first?.id, 0])
    assert.match(again!.message, /at 60001 /)
  })

  it('stay dismissed through a reorganisation', async () => {
    await commit([filled])
    const [first] = await shown()
    await opened.store.transaction((sql) => dismissNotice(sql, MARKET_ORDER.trader, first!.id))
    await commit([undone], true)
    await commit([filled])
    assert.deepEqual(await shown(), [])
  })

  it('show how an order ended that was told and taken back in one commit', async () => {
    await commit([filled, undone])
    assert.deepEqual(await shown(), [])
    await commit([filled, undone, filled])
    assert.equal((await shown()).length, 1)
  })

  it('are not there when the transaction fails', async () => {
    const failing = opened.store.transaction(async (sql) => {
      await writeNotices(sql, { orders: [filled], cause: CAUSE })
      throw new Error('the disk is full')
    })
    await assert.rejects(failing, /the disk is full/)
    assert.deepEqual(await shown(), [])
  })

  it('cost a commit of old blocks no statement at all', async () => {
    const forbidden = (): never => assert.fail('the store was asked')
    const sql: Sql = { all: forbidden, get: forbidden, run: forbidden }
    const orders = Array.from({ length: 1_000 }, (_, at) =>
      aChange(anOrder({}, { id: String(at + 1) as OrderId }), aState('pending'), aState('filled')),
    )
    const inAWeekMs = NOW_MS + 7 * 86_400_000
    await writeNotices(sql, { orders, cause: { ...CAUSE, nowMs: inAWeekMs } })
    await writeNotices(sql, { orders: [], cause: CAUSE })
  })
})
