import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address, type ChainSlug, type Hex, type OrderId } from '@bezel/protocol'
import type { Attempt, AttemptId, AttemptKind } from '../trading/orders/orderModel.ts'
import { anOrder } from '../trading/orders/testing/orderHistory.ts'
import {
  hasUnreportedAttempt,
  insertAttempt,
  listAttemptOrders,
  listAttempts,
  listAttemptsByCall,
  listAttemptsByHash,
  listAwaitedAttempts,
  setRelayedHash,
  setSubmitted,
} from './attemptStore.ts'
import { listTimedOutRelayed } from './facadeChoreStore.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { migrate } from './openStore.ts'
import { countPreparedTransactions, insertOrder } from './orderStore.ts'
import { readExitNeed } from './relayGasStore.ts'
import { textOf, type PointRead, type Sql, type SqlValue } from './sql.ts'
import { ON_SQLITE, openTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

/** The number of migrations of the code before a transaction could carry several orders. */
const BEFORE = 22

const CHAIN: ChainSlug = 'base'
const TRADER = parseAddress(`0x${'1'.repeat(40)}`)!
const AGENT = parseAddress(`0x${'2'.repeat(40)}`)!
const HASH = `0x${'ab'.repeat(32)}` as Hex
const CALL = `0x${'5b'.repeat(40)}`

function attemptOf(id: number, kind: AttemptKind = 'open', changes: Partial<Attempt> = {}): Attempt {
  const own = id.toString(16).padStart(16, '0')
  return {
    id: `0x${own}` as AttemptId,
    kind,
    sender: AGENT,
    calldata: `${CALL}${own}` as Hex,
    gas: '700000',
    createdAtMs: id,
    expiresAtMs: 1_000,
    size: null,
    submittedHash: null,
    submittedAtMs: null,
    trustedUntilMs: null,
    isMismatch: false,
    withdrawnAtMs: null,
    ...changes,
  }
}

async function addOrder(sql: Sql, id: number, status: string): Promise<OrderId> {
  const by = { chain: CHAIN, trader: TRADER, agent: AGENT as Address, originKey: null }
  await insertOrder(sql, anOrder({}, { id: String(id) as OrderId, ...by }))
  await sql.run('update orders set status = $2 where id = $1', BigInt(id), status)
  return String(id) as OrderId
}

describe('attempts of a store that was written before a transaction could carry several orders', () => {
  let opened: TestStore

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store, MIGRATIONS.slice(0, BEFORE))
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const id of [1, 2]) {
        const orderId = await addOrder(sql, id, 'prepared')
        await insertAttempt(sql, { chain: CHAIN, orderId, attempt: attemptOf(id) })
      }
      const again = attemptOf(3, 'open', { submittedHash: HASH, submittedAtMs: 7, isMismatch: true, withdrawnAtMs: 9 })
      await insertAttempt(sql, { chain: CHAIN, orderId: '1' as OrderId, attempt: again })
    })
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  /** Adds a transaction that cancels order 5, reclaims order 6 and closes by order 7. */
  async function addBatch(): Promise<void> {
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const [place, [id, status, kind]] of (
        [
          [5, 'canceled', 'cancel'],
          [6, 'timed_out', 'reclaim'],
          [7, 'prepared', 'open'],
        ] as const
      ).entries()) {
        const orderId = await addOrder(sql, id, status)
        await insertAttempt(sql, { chain: CHAIN, orderId, attempt: attemptOf(9, kind), place })
      }
    })
  }

  it('are what they were', async () => {
    const { read } = opened.store
    const before = await listAttempts(read, '1' as OrderId)
    assert.deepEqual(before, [
      attemptOf(1),
      attemptOf(3, 'open', { submittedHash: HASH, submittedAtMs: 7, isMismatch: true, withdrawnAtMs: 9 }),
    ])
    assert.deepEqual(
      (await listAttemptOrders(read, attemptOf(2).id)).map(({ orderId, place }) => [orderId, place]),
      [['2', 0]],
    )
    assert.equal(await countPreparedTransactions(read, CHAIN, AGENT), 2)
  })

  it('are the same beside one that carries three orders', async () => {
    await addBatch()
    const { read } = opened.store
    assert.equal((await listAttempts(read, '1' as OrderId)).length, 2)
    assert.deepEqual(await listAttempts(read, '6' as OrderId), [attemptOf(9, 'reclaim')])
    assert.equal(await countPreparedTransactions(read, CHAIN, AGENT), 3)
  })

  it('tell the relayer of a cancel and a reclaim in a transaction of several, whatever their place', async () => {
    await addBatch()
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      await addOrder(sql, 8, 'canceled')
      await insertAttempt(sql, { chain: CHAIN, orderId: '8' as OrderId, attempt: attemptOf(9, 'cancel'), place: 3 })
      await insertAttempt(sql, { chain: CHAIN, orderId: '6' as OrderId, attempt: attemptOf(10) })
    })
    const { read } = opened.store
    for (const id of ['5', '8']) assert.equal((await readExitNeed(read, id as OrderId)).isCanceled, true, id)
    const of = { sender: AGENT, after: null, limit: 10 }
    assert.deepEqual(await listTimedOutRelayed(read, CHAIN, { ...of, nowMs: 999 }), [])
    assert.deepEqual(await listTimedOutRelayed(read, CHAIN, { ...of, nowMs: 1_000 }), ['6'])
  })

  it('keep the time of their first report when the relayer sends them at another price', async () => {
    const { id } = attemptOf(2)
    const [submittedAtMs, later] = [11, 99]
    await opened.store.transaction(TEST_SCOPE, (sql) => setRelayedHash(sql, id, HASH, submittedAtMs))
    const other = `0x${'cd'.repeat(32)}` as Hex
    await opened.store.transaction(TEST_SCOPE, (sql) => setRelayedHash(sql, id, other, later))
    assert.deepEqual(await listAttempts(opened.store.read, '2' as OrderId), [
      attemptOf(2, 'open', { submittedHash: other, submittedAtMs }),
    ])
  })

  it('are waited for without a report while they may still do something', async () => {
    const { read } = opened.store
    const waits = (): Promise<boolean> => hasUnreportedAttempt(read, CHAIN, 999)
    const setStatus = async (status: string): Promise<void> => {
      await opened.store.transaction(TEST_SCOPE, (sql) => sql.run('update orders set status = $1', status))
    }
    const expected = { prepared: true, expired: true, pending: false, open: false, filled: false, rejected: false }
    for (const [status, isWaitedFor] of Object.entries(expected)) {
      await setStatus(status)
      assert.equal(await waits(), isWaitedFor, status)
    }
    await opened.store.transaction(TEST_SCOPE, (sql) =>
      insertAttempt(sql, { chain: CHAIN, orderId: '1' as OrderId, attempt: attemptOf(4, 'update') }),
    )
    for (const status of ['open', 'timed_out', 'canceled', 'filled']) {
      await setStatus(status)
      assert.equal(await waits(), status === 'open' || status === 'timed_out', status)
    }
    await setStatus('prepared')
    assert.equal(await hasUnreportedAttempt(read, CHAIN, 1_000), false, 'all have expired')
  })

  it('are found by indexes, without a look at all of them', ON_SQLITE, async () => {
    await addBatch()
    await opened.store.transaction(TEST_SCOPE, (sql) =>
      setSubmitted(sql, attemptOf(9).id, { hash: HASH, submittedAtMs: 1, trustedUntilMs: null }),
    )
    await opened.store.transaction(TEST_SCOPE, (sql) => sql.run('update orders set awaits_until = 100 where id = 7'))
    const { read } = opened.store
    const plans: string[] = []
    async function explain(text: string, params: readonly SqlValue[]): Promise<void> {
      const plan = await read.all<{ detail: string }>(`explain query plan ${text}`, ...params)
      plans.push(...plan.map(({ detail }) => detail))
    }
    const explained: Sql = {
      ...read,
      async all<Row>(asked: string | PointRead, ...params: readonly SqlValue[]): Promise<Row[]> {
        await explain(textOf(asked), params)
        return read.all<Row>(asked, ...params)
      },
      async get<Row>(asked: string | PointRead, ...params: readonly SqlValue[]): Promise<Row | undefined> {
        await explain(textOf(asked), params)
        return read.get<Row>(asked, ...params)
      },
    }
    assert.equal((await listAttempts(explained, '7' as OrderId)).length, 1)
    assert.equal((await listAttemptOrders(explained, attemptOf(9).id)).length, 3)
    assert.equal((await listAttemptsByHash(explained, CHAIN, HASH, TRADER)).length, 3)
    const of = { sender: AGENT, trader: TRADER, call: CALL as Hex }
    assert.equal((await listAttemptsByCall(explained, CHAIN, of)).length, 4)
    assert.equal(
      (await listAwaitedAttempts(explained, CHAIN, { nowMs: 1, after: '0' as OrderId, orders: 5 })).length,
      1,
    )
    await readExitNeed(explained, '7' as OrderId)
    await listTimedOutRelayed(explained, CHAIN, { sender: AGENT, nowMs: 1, after: null, limit: 10 })
    // The result of a view is read from its beginning to its end, and is called as the view is in the query.
    const views = plans.filter((plan) => plan === 'CO-ROUTINE order_attempts').length
    const scans = plans.filter((plan) => /^SCAN (?!agents)/.test(plan))
    assert.deepEqual(scans, Array(views).fill('SCAN attempts'), plans.join('\n'))
  })
})
