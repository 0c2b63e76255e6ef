import { Price, type Fill, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { refoldOrder } from '../journal/refold.ts'
import { NO_JOURNAL } from '../journal/testing/testLog.ts'
import { usd } from '../market/testing/fixtures.ts'
import { findOrder } from '../store/orderStore.ts'
import { aFill } from '../trading/orders/testing/orderHistory.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'
import { positionOf, slipping } from '../trading/plan/testing/fixtures.ts'
import { closePosition } from './closePosition.ts'
import { createOrder } from './createOrder.ts'
import { happen } from './testing/chainEvents.ts'
import { LIMIT_BODY, MARKET_BODY, openOrdersWorld, TRADER, type OrdersWorld } from './testing/ordersWorld.ts'
import { updateOrder } from './updateOrder.ts'
import { updatePosition } from './updatePosition.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected

/** The furthest stop losses at 10x: of an order at 50,000, and of a position opened at 60,012. */
const [OF_ORDER, OF_POSITION] = ['45810', '54982.9944']

describe('what answers tell about stops', () => {
  let world: OrdersWorld

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
  })
  afterEach(() => world.remove())

  const STOPPED = { ...LIMIT_BODY, sl: '40000', clientId: 'c' }
  const create = async (body = STOPPED) => createOrder(world.orders, world.write(), body)
  const storedSl = async (id: string) => (await findOrder(world.opened.store.read, id as never))?.state?.sl
  const clamped = (asked: string, value: string, told: object | undefined) => {
    const { message, ...rest } = told as { readonly message: string }
    assert.deepEqual(rest, { code: 'sl_clamped', field: 'sl', asked, value })
    assert.ok(message.includes(value))
  }

  const own = (): LivePosition => {
    const position = positionOf()
    return { ...position, record: { ...position.record, trader: TRADER } }
  }

  async function place(sl: Price): Promise<string> {
    const { id } = (await create()).prepared.order
    const terms = { price: usd(50_000), sl, tp: Price.zero, slippageP: 1_000 }
    await happen(world, id, { kind: 'placed', tradeIndex: 4, ...terms }, 'trade:4')
    return id
  }

  it('an order is prepared as asked, and the warning says what it will have', async () => {
    const { order, warnings } = (await create()).prepared
    assert.equal(order.sl, '40000')
    assert.equal(warnings?.length, 1)
    clamped('40000', OF_ORDER, warnings[0])
  })

  it('a repeat has the same warning, is compared by what was asked, and shows what the chain has', async () => {
    const first = (await create()).prepared
    assert.deepEqual((await create()).prepared, first)
    const terms = { price: usd(50_000), sl: usd(45_810), tp: Price.zero, slippageP: 1_000 }
    await happen(world, first.order.id, { kind: 'placed', tradeIndex: 4, ...terms }, 'trade:4')
    const { prepared, isRepeat } = await create()
    assert.deepEqual([isRepeat, prepared.order.sl, prepared.transaction], [true, OF_ORDER, null])
    assert.equal(prepared.warnings, undefined)
    await assert.rejects(create({ ...STOPPED, sl: OF_ORDER }), code('IDEMPOTENCY_CONFLICT'))
  })

  it('no warnings are no field', async () => {
    world.positions.push(own())
    const answers = [
      (await create({ ...STOPPED, sl: '49000' })).prepared,
      (await createOrder(world.orders, world.write(), MARKET_BODY)).prepared,
      await updatePosition(world.orders, world.write(), '7' as never, { tp: '70000' }),
      await closePosition(world.orders, world.write(), '7' as never, {}),
    ]
    for (const answer of answers) assert.equal('warnings' in answer, false)
  })

  it('a changed order is shown with the stop loss that it will have, which can be sent back', async () => {
    const id = await place(usd(45_810.1234))
    const update = (body: object) => updateOrder(world.orders, world.write(), id as never, body)
    const { order, warnings } = await update({ sl: '30000' })
    assert.equal(order.sl, OF_ORDER)
    clamped('30000', OF_ORDER, warnings?.[0])
    const same = await update({ sl: '45810.1234', tp: '70000' })
    assert.deepEqual([same.order.sl, same.warnings], ['45810.1234', undefined])
    await assert.rejects(update({ sl: '45810.1235' }), code('PRECISION_ERROR'))
  })

  it('an order that executes at once says so, in a repeat too, and has no stop that the price has passed', async () => {
    const codes = ({ warnings = [] }: { warnings?: readonly { code: string }[] }) => warnings.map(({ code: of }) => of)
    const reached = { ...LIMIT_BODY, price: '70000', clientId: 'm' }
    const first = (await createOrder(world.orders, world.write(), reached)).prepared
    assert.deepEqual(codes(first), ['marketable'])
    assert.deepEqual((await createOrder(world.orders, world.write(), reached)).prepared, first)

    const id = await place(usd(47_000))
    const update = (body: object) => updateOrder(world.orders, world.write(), id as never, body)
    await assert.rejects(update({ price: '70000' }), code('UNSUPPORTED'))
    const moved = await update({ price: '70000', sl: '0' })
    assert.deepEqual([codes(moved), moved.order.price, moved.order.sl], [['marketable'], '70000', null])
    assert.deepEqual(codes(await update({ sl: '48000' })), [])
  })

  it('a changed position is shown with the stop loss that it will have', async () => {
    world.positions.push(own())
    const change = (body: object) => updatePosition(world.orders, world.write(), '7' as never, body)
    const { position, warnings } = await change({ sl: '40000' })
    assert.equal(position.sl, String(usd(54_982.9944)))
    clamped('40000', OF_POSITION, warnings?.[0])
    await assert.rejects(change({ sl: '99999' }), code('UNSUPPORTED'))
  })

  it('a tight close tells what it leaves, in a repeat too, and a stop puts it back unless a close waits', async () => {
    const tight = slipping(own(), 50)
    world.positions.push({ ...tight, state: { ...tight.state, trade: { ...tight.state.trade, sl: usd(55_000) } } })
    const codes = ({ warnings = [] }: { warnings?: readonly { code: string }[] }) => warnings.map(({ code: of }) => of)
    const change = (body: object) => updatePosition(world.orders, world.write(), '7' as never, body)
    const close = (slippage: string) => closePosition(world.orders, world.write(), '7' as never, { slippage })
    assert.deepEqual(codes(await close('1')), [])
    const closing = await close('0.05')
    assert.deepEqual(codes(closing), ['closing_slippage_kept'])
    const reducing = { ...MARKET_BODY, side: 'short', reduceOnly: true, slippage: '0.05', clientId: 'r' } as const
    const { prepared } = await createOrder(world.orders, world.write(), reducing)
    assert.deepEqual(codes(prepared), ['closing_slippage_kept'])
    assert.deepEqual((await createOrder(world.orders, world.write(), reducing)).prepared, prepared)

    assert.deepEqual(codes(await change({ sl: '56000' })), ['closing_slippage_reset'])
    assert.deepEqual(codes(await change({ sl: '0' })), [])
    await happen(world, closing.order.id, { kind: 'requested', pendingIndex: 1, tradeIndex: 4 })
    assert.deepEqual(codes(await change({ sl: '56000' })), ['closing_slippage_kept'])
    await happen(world, closing.order.id, { kind: 'refused', pendingIndex: 1, reason: 'SLIPPAGE' })
    assert.deepEqual(codes(await change({ sl: '56000' })), ['closing_slippage_reset'])
  })

  it('a close that timed out counts as one that waits until it is reclaimed, because a late answer executes it', async () => {
    world.positions.push(slipping(own(), 50))
    const change = async () => {
      const { warnings = [] } = await updatePosition(world.orders, world.write(), '7' as never, { sl: '56000' })
      return warnings.map(({ code: of }) => of)
    }
    const { id } = (await closePosition(world.orders, world.write(), '7' as never, { slippage: '0.05' })).order
    await happen(world, id, { kind: 'requested', pendingIndex: 1, tradeIndex: 4 })
    world.headBlock += 100_000
    await world.opened.store.transaction(TEST_SCOPE, (sql) =>
      refoldOrder(sql, id as OrderId, world.orders.clock(), NO_JOURNAL),
    )
    assert.equal((await findOrder(world.opened.store.read, id as OrderId))?.state?.status, 'timed_out')
    assert.deepEqual(await change(), ['closing_slippage_kept'])
    await happen(world, id, { kind: 'reclaimed', pendingIndex: 1 })
    assert.deepEqual(await change(), ['closing_slippage_reset'])
  })

  it('an executed order has the stop loss of its position', async () => {
    const { id } = (await createOrder(world.orders, world.write(), { ...MARKET_BODY, sl: '40000' })).prepared.order
    await happen(world, id, { kind: 'requested', pendingIndex: 1, tradeIndex: 0 })
    assert.equal(await storedSl(id), '40000')
    const fill: Fill = aFill()
    await happen(world, id, { kind: 'executed', pendingIndex: 1, fill, sl: usd(54_982.9944) })
    assert.equal(await storedSl(id), OF_POSITION)

    const resting = await place(usd(45_810))
    await happen(world, resting, { kind: 'executed', pendingIndex: null, fill, sl: usd(45_819.5) })
    assert.equal(await storedSl(resting), '45819.5')
  })
})
