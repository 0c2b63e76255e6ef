import { DAY_MS, type ChainSlug, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { forgetUnsent } from '../journal/forgetUnsent.ts'
import { refoldOrder } from '../journal/refold.ts'
import { NO_JOURNAL } from '../journal/testing/testLog.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import { listAttempts } from '../store/attemptStore.ts'
import { listCharges } from '../store/changeChargeStore.ts'
import { insertOrderEvent } from '../store/orderEventStore.ts'
import { insertOrder, listDueOrders, findOrder, takeId } from '../store/orderStore.ts'
import { insertPosition, insertPositionEvent, savePositionState } from '../store/positionStore.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'
import { ON_SQLITE } from '../store/testing/testStore.ts'
import { forgetUnsentAttempt } from '../store/unsentStore.ts'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import { utcDayOf } from '../trading/scope.ts'
import { orderOf, positionOf } from '../trading/plan/testing/fixtures.ts'
import { cancelOrder } from './cancelOrder.ts'
import { createOrder } from './createOrder.ts'
import { flatten } from './flatten.ts'
import { readOrderAtClock } from './orderAtClock.ts'
import { submitOrder } from './submitOrder.ts'
import { happen, hashOf, lastAttempt, placed, replaced } from './testing/chainEvents.ts'
import { AGENT, LIMIT_BODY, MARKET_BODY, openOrdersWorld, TRADER, type OrdersWorld } from './testing/ordersWorld.ts'
import { updateOrder } from './updateOrder.ts'
import { updatePosition } from './updatePosition.ts'

const CHAIN: ChainSlug = 'arbitrum'

describe('forgetting what was never sent', () => {
  let world: OrdersWorld
  let forgotten: number[]

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
    forgotten = []
  })
  afterEach(() => world.remove())

  const create = async (body: typeof LIMIT_BODY = LIMIT_BODY): Promise<OrderId> =>
    (await createOrder(world.orders, world.write(), body)).prepared.order.id as OrderId
  const update = (id: string, body: object) => updateOrder(world.orders, world.write(), id as OrderId, body)

  /** Lets time pass, and what expires expire. */
  async function wait(ms: number): Promise<void> {
    const nowMs = (world.market.nowMs += ms)
    world.market.quotes.set(0, { ...world.market.quotes.get(0)!, updatedAtMs: nowMs })
    await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      const due = await listDueOrders(sql, CHAIN, { nowMs, headBlock: -1, limit: 100 })
      for (const id of due) await refoldOrder(sql, id, world.orders.clock(), NO_JOURNAL)
    })
  }

  /** Runs one whole round. */
  async function forget(keepDays: number): Promise<void> {
    let looks = 0
    const { store } = world.opened
    const end = forgetUnsent({
      store,
      chains: [CHAIN],
      keepDays,
      now: () => {
        looks += 1
        return world.market.nowMs
      },
      onForgotten: (orders) => forgotten.push(orders),
      onError: (error) => assert.fail(String(error)),
      roundMs: 1,
    })
    // A second round begins when the first has ended.
    if (keepDays > 0) await until('a round is over', () => looks >= 2)
    await end()
  }

  const isKept = async (id: string): Promise<boolean> =>
    (await findOrder(world.opened.store.read, id as OrderId)) !== undefined
  const attemptsOf = async (id: string): Promise<string[]> =>
    (await listAttempts(world.opened.store.read, id as OrderId)).map(({ kind }) => kind)

  /** The stored state of an order is what it folds to. */
  async function assertFolded(id: string): Promise<void> {
    const stored = (await findOrder(world.opened.store.read, id as OrderId))!
    const folded = await readOrderAtClock(world.opened.store.read, stored, world.orders.clock())
    assert.deepEqual(stored.state, folded?.state)
  }

  it('takes away expired and withdrawn orders after the days of the setting, with their transactions', async () => {
    const [expired, withdrawn] = [await create(), await create(MARKET_BODY)]
    await cancelOrder(world.orders, world.write(), withdrawn)
    await wait(DAY_MS)
    const young = await create()
    await wait(301_000)
    await forget(0)
    await forget(2)
    assert.deepEqual(await Promise.all([expired, withdrawn, young].map(isKept)), [true, true, true])
    await forget(1)
    assert.deepEqual(await Promise.all([expired, withdrawn, young].map(isKept)), [false, false, true])
    assert.deepEqual(forgotten, [2])
    assert.deepEqual([await attemptsOf(expired), await attemptsOf(young)], [[], ['open']])
    assert.notEqual(await create(), expired, 'no id is given twice')
  })

  it('keeps what has a name for ever, was reported, is on the chain, or waits to be sent', async () => {
    const named = await create({ ...LIMIT_BODY, clientId: 'mine' })
    const reported = await create()
    await submitOrder(world.orders, world.write(), reported, { txHash: hashOf(77) })
    const resting = await create()
    await placed(world, resting)
    const failed = await create()
    await happen(world, failed, { kind: 'reverted' })
    await wait(40 * DAY_MS)
    const prepared = await create()
    await forget(1)
    for (const id of [named, reported, resting, failed, prepared]) {
      assert.ok(await isKept(id))
      assert.equal((await attemptsOf(id)).length, 1)
      await assertFolded(id)
    }
    assert.deepEqual(forgotten, [])
  })

  it('looks again when it is alone with the trader: what is sent, renewed or mined meanwhile is kept', async () => {
    const [sent, prepared, mined, gone] = [await create(), await create(), await create(), await create()]
    const { store } = world.opened
    await submitOrder(world.orders, world.write(), sent, { txHash: hashOf(78) })
    const idOf = async (order: OrderId): Promise<AttemptId> => (await lastAttempt(world, order)).id
    const forgetOne = async (order: OrderId): Promise<number | undefined> => {
      const id = await idOf(order)
      return store.transaction({ chain: CHAIN, trader: TRADER }, (sql) => forgetUnsentAttempt(sql, id))
    }
    assert.equal(await forgetOne(prepared), undefined)
    await wait(301_000)
    const place = { blockNumber: 7, blockHash: hashOf(7), logIndex: 0, txHash: hashOf(7), timestampMs: 7 }
    const event = { ...place, kind: 'reverted', attemptId: await idOf(mined) } as const
    await store.transaction(TEST_SCOPE, (sql) =>
      insertOrderEvent(sql, { chain: CHAIN, trader: TRADER, orderId: mined, handle: null, event }),
    )
    for (const order of [sent, mined]) {
      assert.equal(await forgetOne(order), undefined)
      assert.ok(await isKept(order))
    }
    assert.equal(await forgetOne(gone), 1)
  })

  it('takes away changes that were not sent, and keeps those that were mined, with all that they count', async () => {
    const id = await create()
    await placed(world, id)
    await update(id, { size: '0.2' })
    await replaced(world, id, { tradeIndex: 5 })
    await update(id, { size: '0.3' })
    await update(id, { tp: '70000' })
    await cancelOrder(world.orders, world.write(), id)
    assert.deepEqual(await attemptsOf(id), ['open', 'replace', 'replace', 'update', 'cancel'])
    await wait(2 * DAY_MS)
    const before = await findOrder(world.opened.store.read, id)
    await forget(1)
    assert.deepEqual(await attemptsOf(id), ['open', 'replace'])
    assert.equal((await listCharges(world.opened.store.read, id)).length, 1)
    assert.deepEqual(await findOrder(world.opened.store.read, id), before)
    await assertFolded(id)
  })

  it('keeps a change that still counts, because no round was made since it expired', async () => {
    const id = await create()
    await placed(world, id)
    const spent = () => readSpentUsd(world.opened.store.read, CHAIN, AGENT, utcDayOf(world.market.nowMs))
    const counted = await spent()
    const dayMs = world.market.nowMs
    await update(id, { size: '0.2' })
    assert.ok((await spent()) > counted)
    world.market.nowMs += 2 * DAY_MS
    await forget(1)
    await wait(0)
    world.market.nowMs = dayMs
    assert.equal(await spent(), counted)
    world.market.nowMs += 2 * DAY_MS
    await forget(1)
    assert.deepEqual(await attemptsOf(id), ['open'])
  })

  it('takes away a transaction of several orders as a whole, or not at all', async () => {
    const ids = [await create(), await create()]
    for (const [at, id] of ids.entries()) await placed(world, id, { tradeIndex: 10 + at })
    const { record, state } = positionOf({ index: 3 }, '9003')
    world.positions.push({ record: { ...record, trader: TRADER }, state })
    const { orders } = await flatten(world.orders, world.write(), 'all', {})
    const closing = orders.map((order) => order.id).find((id) => !ids.includes(id as OrderId))!
    const attempt = await lastAttempt(world, closing)
    const scope = { chain: CHAIN, trader: TRADER }
    const early = await world.opened.store.transaction(scope, (sql) => forgetUnsentAttempt(sql, attempt.id))
    assert.equal(early, undefined, 'the close is still prepared')
    await wait(2 * DAY_MS)
    await happen(world, ids[1]!, { kind: 'canceled' })
    await forget(1)
    assert.ok(await isKept(closing), 'one of its orders has it')
    assert.equal((await attemptsOf(ids[0]!)).length, 2)
    await world.opened.store.transaction(TEST_SCOPE, (sql) =>
      sql.run('delete from order_events where order_id = $1 and body like $2', BigInt(ids[1]!), `%${attempt.id}%`),
    )
    await forget(1)
    assert.ok(!(await isKept(closing)))
    assert.deepEqual(await Promise.all(ids.map(attemptsOf)), [['open'], ['open']])
  })

  it('takes away changes of positions that were not sent, and keeps those that the position knows', async () => {
    const held = positionOf()
    const record = { ...held.record, chain: CHAIN, trader: TRADER }
    await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      const originOrderId = await takeId(sql)
      await insertOrder(sql, { ...orderOf().record, chain: CHAIN, trader: TRADER, id: originOrderId })
      await insertPosition(sql, { ...record, originOrderId })
      await savePositionState(sql, record.id, held.state)
    })
    world.positions.push({ record, state: held.state })
    const ids: AttemptId[] = []
    for (const leverage of ['5', '6', '7']) {
      const { transaction } = await updatePosition(world.orders, world.write(), record.id, { leverage })
      ids.push(`0x${transaction.data.slice(-16)}` as AttemptId)
    }
    const [pending, mined, unsent] = ids
    await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      await sql.run('update positions set update_attempt = $2 where id = $1', BigInt(record.id), pending!)
      const place = { blockNumber: 7, blockHash: hashOf(7), logIndex: 0, txHash: hashOf(7), timestampMs: 7 }
      const body = { kind: 'updateRequested', pendingIndex: 1, update: 'leverage', leverage: 5_000 } as const
      const event = { ...place, ...body, collateralAmount: 1n, attemptId: mined! } as never
      await insertPositionEvent(sql, { chain: CHAIN, positionId: record.id, event })
    })
    await wait(2 * DAY_MS)
    await forget(1)
    const kept = await world.opened.store.read.all<{ id: string }>('select id from position_attempts order by id')
    assert.deepEqual(
      kept.map(({ id }) => id),
      [pending, mined].toSorted(),
    )
    assert.ok(!kept.some(({ id }) => id === unsent))
  })

  it('walks through more than one page, past those that are kept', async () => {
    const kept = 150
    const { store } = world.opened
    const [id, named] = [await create(), await create({ ...LIMIT_BODY, clientId: 'named' })]
    await wait(301_000)
    await store.transaction(TEST_SCOPE, async (sql) => {
      const rows = `with recursive n (k) as (select 1 union all select k + 1 from n where k < ${kept})`
      const columns = 'chain, kind, sender, calldata, call_digest, created_at, is_mismatch'
      await sql.run(
        `insert into attempts (id, order_id, expires_at, ${columns})
         ${rows} select 'kept ' || k, order_id, 5, ${columns} from n, attempts where order_id = $1`,
        BigInt(named),
      )
    })
    world.market.nowMs += 2 * DAY_MS
    await forget(1)
    assert.ok(!(await isKept(id)))
    assert.equal((await attemptsOf(named)).length, kept + 1)
  })

  it('finds them by an index', ON_SQLITE, async () => {
    const plans: string[] = []
    const { store } = world.opened
    const all: typeof store.read.all = async (read, ...params) => {
      const rows = await store.read.all<{ detail: string }>(`explain query plan ${String(read)}`, ...params)
      plans.push(rows.map(({ detail }) => detail).join('\n'))
      return []
    }
    const watched = { ...store, read: { ...store.read, all } }
    const of = { chains: [CHAIN], keepDays: 1, now: () => world.market.nowMs, onForgotten: () => undefined }
    const end = forgetUnsent({ ...of, store: watched, onError: (error) => assert.fail(String(error)) })
    await until('both were asked', () => plans.length === 2)
    await end()
    assert.match(plans[0]!, /SEARCH attempts USING INDEX attempts_unreported \(chain=\? AND expires_at/)
    assert.match(plans[1]!, /SEARCH asked USING INDEX position_attempts_by_expiry \(expires_at/)
    for (const plan of plans) assert.doesNotMatch(plan, /SCAN/)
  })
})
