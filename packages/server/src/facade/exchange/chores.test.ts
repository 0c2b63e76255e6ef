import { Price, type Address, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { notReady } from '../../ground/unavailable.ts'
import { createOrder } from '../../orders/createOrder.ts'
import { submitOrder } from '../../orders/submitOrder.ts'
import { FINAL_BLOCKS, LIMIT_BODY } from '../../orders/testing/ordersWorld.ts'
import { usd } from '../../market/testing/fixtures.ts'
import { listDueSchedules, listRestores, saveSchedule } from '../../store/facadeChoreStore.ts'
import { findOrder, listLiveOrders, takeId } from '../../store/orderStore.ts'
import { savePositionState } from '../../store/positionStore.ts'
import { foundRequestKey } from '../../trading/orders/orderModel.ts'
import type { WaitingUpdate } from '../../trading/positions/positionModel.ts'
import { usdc } from '../../trading/valuation/testing/fixtures.ts'
import { refoldOrder } from '../../journal/refold.ts'
import { runRound } from '../../journal/clock.ts'
import { OFF_CHAIN } from '../../journal/accountLog.ts'
import { getAddress } from 'viem'
import { until } from '@bezel/testkit/until.ts'
import { createDueCancels, createReclaims, createRestores, startChores } from './chores.ts'
import {
  openExchangeWorld,
  orderAction,
  orderItem,
  placedAt,
  RELAYER,
  requested,
  TRADER,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { orderSteps } from './testing/orderSteps.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const log = { warn: () => {}, error: () => {} } as never

const PENDING: WaitingUpdate = {
  kind: 'collateral',
  pendingIndex: 9,
  leverage: 8_000,
  collateralDelta: usdc(25),
  attemptId: null,
  txHash: '0x00' as never,
  createdAtMs: 1,
  createdBlock: 1,
  timesOutAtBlock: 2,
  status: 'timed_out',
}

describe('what the facade does by itself', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const { rest: place, pass, innerCalls, cancel, closeTightly } = orderSteps(() => world)
  const scheduled = async () =>
    (await listDueSchedules(world.parts.store.read, 'arbitrum', { nowMs: world.base.market.nowMs, limit: 9 })).length
  const kinds = () => world.relayer.taken.map(({ attempt }) => attempt.kind)

  /** Copies the order for `count` other traders. */
  const crowd = (oid: number, count: number): Promise<Address[]> =>
    world.parts.store.transaction(TEST_SCOPE, async (sql) => {
      const traders: Address[] = []
      for (let i = 1; i <= count; i += 1) {
        const trader = getAddress(`0x${String(i).padStart(40, '0')}`) as Address
        const id = BigInt(await takeId(sql))
        await sql.run(
          `insert into orders (id, chain, trader, request, created_at, spend_usd, status, state)
           select $1, chain, $2, request, created_at, spend_usd, status, state from orders where id = $3`,
          id,
          trader,
          BigInt(oid),
        )
        await sql.run(
          `insert into attempts (id, order_id, chain, kind, sender, calldata, call_digest, created_at, expires_at, is_mismatch)
           select $2, $1, chain, kind, sender, calldata, call_digest, created_at, expires_at, is_mismatch from attempts where order_id = $3`,
          id,
          `copy ${id}`,
          BigInt(oid),
        )
        traders.push(trader)
      }
      return traders
    })

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
      const cancels = createDueCancels(world.parts)
      await cancels.run(log)
      assert.deepEqual(kinds(), ['open'])
      pass(6_000)
      await cancels.run(log)
      assert.deepEqual(kinds(), ['open', 'cancel', 'cancel'])
      for (const { record } of await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)) {
        await world.happen(record.id, { kind: 'canceled' })
      }
      await cancels.run(log)
      assert.equal(await scheduled(), 0)
      await cancels.run(log)
      assert.equal(kinds().length, 3)
    })

    it('are sent again when they did not end their order, and spare what was placed after the time', async () => {
      await setUp()
      pass(6_001)
      const cancels = createDueCancels(world.parts)
      await cancels.run(log)
      const later = await place({ p: '49000' })
      await world.happen(later, { ...placedAt(49_000), tradeIndex: 6 }, 'trade:6' as never)
      await cancels.run(log)
      assert.deepEqual(kinds(), ['open', 'cancel', 'open'])
      pass(60_000)
      await cancels.run(log)
      assert.deepEqual(kinds(), ['open', 'cancel', 'open', 'cancel'])
      assert.equal(await scheduled(), 1)
      const first = (await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)).at(-1)
      await world.happen(first!.record.id, { kind: 'canceled' })
      await cancels.run(log)
      assert.equal(await scheduled(), 0)
      assert.equal(kinds().length, 4)
    })

    it('of others are not held up by many that fail', async () => {
      const stuck = await place({ p: '48000' })
      const dueAtMs = world.base.market.nowMs
      for (const trader of await crowd(stuck, 45)) {
        const { agent } = await world.register({ agent: trader, trader })
        await world.parts.store.transaction(TEST_SCOPE, (sql) =>
          saveSchedule(sql, { chain: 'arbitrum', trader, agent, dueAtMs }),
        )
      }
      await setUp()
      pass(6_000)
      const cancels = createDueCancels(world.parts)
      for (let round = 0; round < 4; round += 1) await cancels.run(log)
      assert.deepEqual(kinds(), ['open', 'open', 'cancel'])
    })

    it('come again until the node took them, after a long break too', async () => {
      await setUp()
      pass(6_000_000)
      world.base.node.isAway = true
      await createDueCancels(world.parts).run(log)
      assert.deepEqual(kinds(), ['open'])
      assert.equal(await scheduled(), 1)
      await world.restart()
      world.base.node.isAway = false
      const chores = startChores(world.parts, log)
      await until('the order is cancelled', () => kinds().includes('cancel'))
      const [order] = await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)
      await world.happen(order!.record.id, { kind: 'canceled' })
      await until('it is over', async () => (await scheduled()) === 0)
      await chores.close()
    })

    it('wait while the operator has paused writes or the relayer, however long that takes', async () => {
      await setUp()
      pass(6_000)
      let paused: 'writesPaused' | 'relayerPaused' | undefined = 'writesPaused'
      const pauseBy = (name: typeof paused) => () => (name === paused ? { reason: '' } : undefined)
      const controls = {
        ...world.parts.controls,
        writesPaused: pauseBy('writesPaused'),
        relayerPaused: pauseBy('relayerPaused'),
      }
      world.base.node.isAway = true
      const cancels = createDueCancels({ ...world.parts, controls })
      await cancels.run(log)
      paused = undefined
      await cancels.run(log)
      paused = 'relayerPaused'
      pass(700_000)
      await cancels.run(log)
      paused = undefined
      await cancels.run(log)
      assert.deepEqual([kinds(), await scheduled()], [['open'], 1])
      world.base.node.isAway = false
      pass(2_001)
      await cancels.run(log)
      assert.deepEqual(kinds(), ['open', 'cancel'])
    })

    it('wait while not everything of the trader is known, because what is not known is not cancelled', async () => {
      await setUp()
      pass(6_000)
      const setStatus = (status: string | null): Promise<unknown> =>
        world.parts.store.transaction(TEST_SCOPE, (sql) => sql.run('update orders set status = $1', status))
      let isKnown = false
      const cancels = createDueCancels({ ...world.parts, orders: { ...world.parts.orders, isKnown: () => isKnown } })
      await setStatus(null)
      await cancels.run(log)
      pass(700_000)
      await cancels.run(log)
      assert.deepEqual([kinds(), await scheduled()], [['open'], 1])
      await setStatus('open')
      isKnown = true
      pass(2_001)
      await cancels.run(log)
      assert.deepEqual(kinds(), ['open', 'cancel'])
    })

    it('wait while the contracts are not known, however long that takes', async () => {
      await setUp()
      pass(6_000)
      let isChanged = true
      const trading: typeof world.parts.orders.trading = (witness) => {
        if (isChanged) throw notReady('diamond_changed')
        return world.parts.orders.trading(witness)
      }
      const cancels = createDueCancels({ ...world.parts, orders: { ...world.parts.orders, trading } })
      await cancels.run(log)
      pass(700_000)
      await cancels.run(log)
      assert.deepEqual([kinds(), await scheduled()], [['open'], 1])
      isChanged = false
      await cancels.run(log)
      assert.deepEqual(kinds(), ['open', 'cancel'])
    })

    it('wait for orders that are on their way, and not for ever', async () => {
      await world.send({ type: 'scheduleCancel', time: world.base.market.nowMs + 6_000 })
      const oid = await place()
      pass(6_000)
      const cancels = createDueCancels(world.parts)
      await cancels.run(log)
      assert.equal(await scheduled(), 1)
      await world.happen(oid, placedAt(), 'trade:4' as never)
      await cancels.run(log)
      assert.deepEqual(kinds(), ['open', 'cancel'])
      assert.equal(await scheduled(), 1)
      pass(600_001)
      await cancels.run(log)
      assert.equal(await scheduled(), 0)
    })

    it('wait for an order, too, whose reported hash no node knows', async () => {
      await world.send({ type: 'scheduleCancel', time: world.base.market.nowMs + 6_000 })
      await world.base.register()
      world.base.node.delegate = world.base.write().agent.agent
      const { orders } = world.parts
      const { prepared } = await createOrder(orders, world.base.write(), LIMIT_BODY)
      const id = prepared.order.id as OrderId
      await submitOrder(orders, world.base.write(), id, { txHash: `0x${'7'.repeat(64)}` })
      world.base.node.delegate = RELAYER
      pass(10_000)
      const { accountLog, clock, store } = orders
      await runRound({ chain: 'arbitrum', store, accountLog, clock, onError: () => {} })
      assert.equal((await findOrder(store.read, id))?.state?.status, 'prepared')
      const cancels = createDueCancels(world.parts)
      await cancels.run(log)
      assert.equal(await scheduled(), 1)
      await world.happen(id, placedAt(), 'trade:4' as never)
      await cancels.run(log)
      assert.deepEqual(kinds(), ['cancel'])
    })

    it('need an agent that still may act', async () => {
      await setUp()
      await world.register({ revoked: true })
      pass(6_000)
      await createDueCancels(world.parts).run(log)
      assert.deepEqual(kinds(), ['open'])
      assert.equal(await scheduled(), 0)
    })
  })

  it('ends with the agent that asked for a cancel, whoever else may act', async () => {
    const oid = await place()
    await world.happen(oid, placedAt(), 'trade:4' as never)
    await world.send({ type: 'scheduleCancel', time: world.base.market.nowMs + 6_000 })
    await world.register({ revoked: true })
    await world.register({ agent: getAddress(`0x${'5'.repeat(40)}`) as Address })
    pass(6_000)
    await createDueCancels(world.parts).run(log)
    assert.deepEqual(kinds(), ['open'])
    assert.equal(await scheduled(), 0)
  })

  describe('a closing slippage that a close needed when a stop was set', () => {
    const stop = orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '55000') })
    const owed = () => listRestores(world.parts.store.read, 'arbitrum', { after: null, limit: 9 })
    const sent = () => world.relayer.taken.length
    /** Sets a stop while a tight close waits. */
    const setUp = async () => {
      const position = await world.hold()
      const close = await closeTightly(position)
      await world.sendWhile(orderAction(stop), () => world.change(position.record.id, { sl: usd(55_000) }))
      return { ...position, close }
    }
    const refuse = (close: OrderId) => world.happen(close, { kind: 'refused', pendingIndex: 1, reason: 'SLIPPAGE' })

    it('is put back once the close has ended, once, with the gas that is set aside for stops', async () => {
      const { record, state, close } = await setUp()
      const restores = createRestores(world.parts)
      await restores.run(log)
      assert.equal(sent(), 1, 'the close waits')
      await refuse(close)
      await restores.run(log)
      await restores.run(log)
      assert.equal(sent(), 2)
      assert.deepEqual(innerCalls(), [['updateMaxClosingSlippageP', state.trade.index, 1_000]])
      assert.deepEqual(world.relayer.taken.at(-1)!.purpose, { kind: 'stops', positionIds: [record.id] })
      world.turn(record.id, { maxClosingSlippageP: 1_000 })
      pass(30_001)
      await restores.run(log)
      assert.deepEqual([sent(), (await owed()).length], [2, 1])
      world.base.headBlock += FINAL_BLOCKS
      await restores.run(log)
      assert.deepEqual([sent(), await owed()], [2, []])
      // From now on the slippage is the trader's own.
      world.turn(record.id, { maxClosingSlippageP: 50 })
      await restores.run(log)
      assert.equal(sent(), 2)
    })

    it('is put back by another process too, and again where the block was undone', async () => {
      const { record, close } = await setUp()
      await refuse(close)
      const before = createRestores(world.parts)
      world.turn(record.id, { maxClosingSlippageP: 1_000 })
      await before.run(log)
      world.turn(record.id, { maxClosingSlippageP: 50 })
      world.base.headBlock += FINAL_BLOCKS
      await createRestores(world.parts).run(log)
      assert.equal(sent(), 2)
      await before.run(log)
      assert.equal(sent(), 3)
    })

    it('waits while the stop is changing, while there is none, and for an agent that may act', async () => {
      const { record, close } = await setUp()
      await refuse(close)
      const restores = createRestores(world.parts)
      await cancel(await world.triggerOid(record.id, 'sl'))
      await restores.run(log)
      assert.equal(sent(), 2, 'its removal is on its way')
      world.relayer.settle(world.relayer.taken[1]!.hash)
      world.change(record.id, { sl: Price.zero })
      await restores.run(log)
      assert.equal(sent(), 2, 'it has no stop')
      world.change(record.id, { sl: usd(55_000) })
      await world.register({ revoked: true })
      await restores.run(log)
      assert.equal(sent(), 2, 'nobody may act')
      await world.register()
      pass(30_001)
      await restores.run(log)
      assert.equal(sent(), 3)
    })

    it('is forgotten with its trade', async () => {
      const { record } = await setUp()
      world.base.positions.splice(0, 1)
      const restores = createRestores(world.parts)
      await restores.run(log)
      assert.deepEqual(await owed(), [record.id])
      world.base.headBlock += FINAL_BLOCKS
      await restores.run(log)
      assert.deepEqual([sent(), await owed()], [1, []])
    })
  })

  describe('reclaims', () => {
    const timeOut = async (oid: number): Promise<void> => {
      await world.happen(oid, requested)
      world.base.headBlock += 300
      await world.parts.orders.accountLog.transaction({ chain: 'arbitrum' }, OFF_CHAIN, (sql, journal) =>
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

    it('take back a change of margin that the oracle never answered, once', async () => {
      const position = await world.hold()
      const { id } = position.record
      const names = () => world.relayer.taken.map(({ attempt }) => attempt.kind)
      await world.send({ type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 25_000_000 })
      const { attempt } = world.relayer.taken.at(-1)!
      const timedOut = async (attemptId: typeof attempt.id | null, pendingIndex: number): Promise<void> => {
        const pendingUpdate = { ...PENDING, attemptId, pendingIndex }
        await world.parts.store.transaction(TEST_SCOPE, (sql) =>
          savePositionState(sql, id, { ...position.state, pendingUpdate }),
        )
        world.turn(id, { pendingUpdate })
      }
      const reclaims = createReclaims(world.parts)
      await reclaims.run(log)
      assert.deepEqual(names(), ['update'])
      await timedOut(null, 8)
      await reclaims.run(log)
      assert.deepEqual(names(), ['update'], 'one that was started elsewhere is left to whoever started it')
      await timedOut(attempt.id, 9)
      await reclaims.run(log)
      await reclaims.run(log)
      await createReclaims(world.parts).run(log)
      assert.deepEqual(names(), ['update', 'reclaim'])
    })

    it('take back what a snapshot found unanswered, of traders for whom the relayer acts', async () => {
      const oid = await place({ p: '61000', t: { limit: { tif: 'Ioc' } } })
      await timeOut(oid)
      const strangers = await crowd(oid, 1)
      await world.parts.store.transaction(TEST_SCOPE, async (sql) => {
        await sql.run('delete from attempts')
        for (const trader of [TRADER, ...strangers]) {
          const key = foundRequestKey(trader, 1)
          await sql.run('update orders set origin_key = $1 where trader = $2', key, trader)
        }
      })
      const reclaims = createReclaims(world.parts)
      await reclaims.run(log)
      await reclaims.run(log)
      assert.deepEqual(
        world.relayer.taken.slice(1).map(({ attempt, trader }) => [attempt.kind, trader]),
        [['reclaim', TRADER]],
      )
    })

    it('of others are not held up by many that nobody may reclaim', async () => {
      const ioc = { p: '61000', t: { limit: { tif: 'Ioc' } } }
      const first = await place(ioc)
      await timeOut(first)
      await crowd(first, 45)
      const oid = await place(ioc)
      await timeOut(oid)
      const reclaims = createReclaims(world.parts)
      for (let round = 0; round < 4; round += 1) await reclaims.run(log)
      assert.deepEqual(kinds(), ['open', 'open', 'reclaim', 'reclaim'])
    })

    it('come again soon when not everything of the trader was known', async () => {
      await timeOut(await place({ p: '61000', t: { limit: { tif: 'Ioc' } } }))
      let isKnown = false
      const orders = { ...world.parts.orders, isKnown: () => isKnown }
      const reclaims = createReclaims({ ...world.parts, orders })
      await reclaims.run(log)
      isKnown = true
      pass(2_001)
      await reclaims.run(log)
      assert.deepEqual(kinds(), ['open', 'reclaim'])
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
