import type { OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { createOrder } from '../../orders/createOrder.ts'
import { LIMIT_BODY } from '../../orders/testing/ordersWorld.ts'
import { usd } from '../../market/testing/fixtures.ts'
import { listDueSchedules } from '../../store/facadeScheduleStore.ts'
import { findOrder } from '../../store/orderStore.ts'
import { refoldOrder } from '../../orders/refoldOrder.ts'
import { OFF_CHAIN } from '../../accounts/log/accountLog.ts'
import { until } from '../../testing/until.ts'
import { runDueCancels } from './dueCancels.ts'
import { createReclaims } from './reclaims.ts'
import { startChores } from './startChores.ts'
import {
  gtc,
  openExchangeWorld,
  orderAction,
  orderItem,
  placedAt,
  RELAYER,
  requested,
  statusesOf,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'

const log = { warn: () => {}, error: () => {} } as never

describe('what the facade does by itself', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const place = async (changes = {}): Promise<number> => {
    const [status] = statusesOf(await world.send(orderAction(orderItem({ p: '50000', t: gtc, ...changes }))))
    return (status as { resting: { oid: number } }).resting.oid
  }
  const pass = (ms: number): void => {
    world.base.market.nowMs += ms
    world.base.market.quotes.set(0, { ...world.base.market.quotes.get(0)!, tickedAtMs: world.base.market.nowMs })
  }
  const scheduled = async () =>
    (await listDueSchedules(world.parts.store.read, 'arbitrum', { nowMs: world.base.market.nowMs, limit: 9 })).length
  const kinds = () => world.relayer.taken.map(({ attempt }) => attempt.kind)

  describe('scheduled cancels', () => {
    const setUp = async (): Promise<void> => {
      const first = await place()
      await world.happen(first, placedAt(), 'trade:4' as never)
      await world.hold({ sl: usd(55_000) })
      await world.send({ type: 'scheduleCancel', time: world.base.market.nowMs + 6_000 })
    }

    it('end every resting order when they are due, and leave protection alone', async () => {
      await setUp()
      await world.base.register()
      world.base.node.delegate = world.base.write().agent.agent
      const { prepared } = await createOrder(world.parts.orders, world.base.write(), LIMIT_BODY)
      await world.happen(prepared.order.id, { ...placedAt(), tradeIndex: 5 }, 'trade:5' as never)
      world.base.node.delegate = RELAYER
      await runDueCancels(world.parts, log)
      assert.deepEqual(kinds(), ['open'])
      pass(6_000)
      await runDueCancels(world.parts, log)
      assert.deepEqual(kinds(), ['open', 'cancel', 'cancel'])
      assert.equal(await scheduled(), 0)
      await runDueCancels(world.parts, log)
      assert.equal(kinds().length, 3)
    })

    it('come again until the node took them, after a restart too', async () => {
      await setUp()
      pass(6_000)
      world.base.node.isAway = true
      await runDueCancels(world.parts, log)
      assert.deepEqual(kinds(), ['open'])
      assert.equal(await scheduled(), 1)
      await world.restart()
      world.base.node.isAway = false
      const chores = startChores(world.parts, log)
      await until('the order is cancelled', () => kinds().includes('cancel'))
      await until('it is over', async () => (await scheduled()) === 0)
      await chores.close()
    })

    it('wait for orders that are on their way, and not for ever', async () => {
      await world.send({ type: 'scheduleCancel', time: world.base.market.nowMs + 6_000 })
      const oid = await place()
      pass(6_000)
      await runDueCancels(world.parts, log)
      assert.equal(await scheduled(), 1)
      await world.happen(oid, placedAt(), 'trade:4' as never)
      await runDueCancels(world.parts, log)
      assert.deepEqual(kinds(), ['open', 'cancel'])
      assert.equal(await scheduled(), 0)
    })

    it('need an agent that still may act', async () => {
      await setUp()
      await world.register({ revoked: true })
      pass(6_000)
      await runDueCancels(world.parts, log)
      assert.deepEqual(kinds(), ['open'])
      assert.equal(await scheduled(), 0)
    })
  })

  describe('reclaims', () => {
    const timeOut = async (oid: number): Promise<void> => {
      await world.happen(oid, requested)
      world.base.headBlock += 300
      await world.parts.orders.accountLog.transaction(OFF_CHAIN, (sql, journal) =>
        refoldOrder(sql, String(oid) as OrderId, world.parts.orders.clock(), journal),
      )
      assert.equal((await findOrder(world.parts.store.read, String(oid) as OrderId))?.state?.status, 'timed_out')
    }

    it('take back what the oracle never answered, once', async () => {
      const oid = await place({ p: '61000', t: { limit: { tif: 'Ioc' } } })
      const reclaims = createReclaims(world.parts)
      await reclaims.run(log)
      assert.deepEqual(kinds(), ['open'])
      await timeOut(oid)
      await reclaims.run(log)
      await reclaims.run(log)
      await createReclaims(world.parts).run(log)
      assert.deepEqual(kinds(), ['open', 'reclaim'])
      await world.happen(oid, { kind: 'reclaimed', pendingIndex: 1 })
      assert.equal((await findOrder(world.parts.store.read, String(oid) as OrderId))?.state?.status, 'canceled')
    })

    it('come again after a while when they fail', async () => {
      const oid = await place({ p: '61000', t: { limit: { tif: 'Ioc' } } })
      await timeOut(oid)
      const reclaims = createReclaims(world.parts)
      world.base.node.isAway = true
      await reclaims.run(log)
      world.base.node.isAway = false
      await reclaims.run(log)
      assert.deepEqual(kinds(), ['open'])
      pass(30_001)
      await reclaims.run(log)
      assert.deepEqual(kinds(), ['open', 'reclaim'])
    })
  })
})
