import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { TokenSize } from '@bezel/protocol'
import { usd } from '../../market/testing/fixtures.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { RelayRefusedError } from '../relayer/gasBudget.ts'
import {
  executed,
  FILL,
  gtc,
  openExchangeWorld,
  orderAction,
  orderItem,
  requested,
  statusesOf,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { orderSteps } from './testing/orderSteps.ts'

const CLOID = '0x000000000000000000000000000ABCDE'

describe('order', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const { place, errorOf, stored, callsOf, cancel, restingOid } = orderSteps(() => world)

  describe('against a position', () => {
    // The positions held here have a size of 0.016663333999866693 BTC.
    it('closes the oldest first, and nothing when there is none', async () => {
      assert.equal(
        await errorOf(orderItem({ b: false, p: '59000', r: true })),
        'Reduce only order would increase position. asset=0',
      )
      const first = await world.hold()
      await world.hold()
      const [status] = await place(orderItem({ b: false, p: '59000', s: '0.02', r: true }))
      const { record } = await stored((status as { resting: { oid: number } }).resting.oid)
      assert.equal(record.request.reduceOnly, true)
      assert.equal(record.request.legs.length, 2)
      assert.equal(record.request.legs[0]?.positionId, first.record.id)
    })

    it('reduces it also without saying so, and never flips it', async () => {
      await world.hold()
      const [status] = await place(orderItem({ b: false, p: '59000', s: '0.01' }))
      const { record } = await stored((status as { resting: { oid: number } }).resting.oid)
      assert.equal(record.request.reduceOnly, true)
      assert.match(await errorOf(orderItem({ b: false, p: '59000', s: '0.02' })), /^Order would flip the position/)
      // A size rounded up to the size precision of the market is still the whole position.
      const [rounded] = await place(orderItem({ b: false, p: '59000', s: '0.01667' }))
      assert.ok('resting' in (rounded as object))
    })

    it('reduces the whole that clients see, where there are positions on both sides', async () => {
      for (let i = 0; i < 3; i += 1) await world.hold()
      await world.hold({ long: false })
      // The trader is net long by two positions: closing all must not leave a short.
      const [status] = await place(orderItem({ b: false, p: '59000', s: '5', r: true }))
      const { record } = await stored(restingOid(status))
      assert.equal(record.request.size, '0.03332')
      assert.equal(
        await errorOf(orderItem({ b: true, p: '61000', s: '0.01666', r: true })),
        'Reduce only order would increase position. asset=0',
      )
    })

    it('closes all of it by the size that clients are told, however long that is', async () => {
      await world.hold()
      for (const s of ['0.016663333999866693', '0.01666333', '0.01666']) {
        const [status] = await place(orderItem({ b: false, p: '59000', s, r: true }))
        const { record } = await stored((status as { resting: { oid: number } }).resting.oid)
        assert.equal(record.request.legs[0]?.size, '0.016663333999866693')
        assert.equal(callsOf().functionName, 'closeTradeMarket')
      }
      assert.match(
        await errorOf(orderItem({ b: false, p: '59000', s: '0.010000001', r: true })),
        /^Order has invalid size/,
      )
      world.base.positions.length = 0
      await world.hold({ positionSizeToken: TokenSize.of(3n * 10n ** 12n) })
      const [dust] = await place(orderItem({ b: false, p: '59000', s: '0.000003', r: true }))
      assert.ok('resting' in (dust as object))
    })

    it('is bounded by its price, and leaves the slippage of the stop loss as it is', async () => {
      const position = await world.hold({ sl: usd(55_000) })
      await place(orderItem({ b: false, p: '59900', s: '0.01', r: true }))
      const { functionName, args } = callsOf()
      assert.equal(functionName, 'decreasePositionSize')
      // The chain allows one percent below the expected price, which is the price of the order.
      const expected = (args as readonly unknown[])[3] as bigint
      assert.ok(expected - (expected * 1_000n) / 100_000n >= usd(59_900))
      assert.ok(expected - usd(60_505.06) <= 10n ** 9n)
      assert.equal(position.state.maxClosingSlippageP, 0)
    })

    it('opens more on the same side', async () => {
      await world.hold()
      const [status] = await place(orderItem())
      const { record } = await stored((status as { resting: { oid: number } }).resting.oid)
      assert.equal(record.request.reduceOnly, false)
    })

    it('sets its stop loss and take profit, with an order id of their own', async () => {
      const position = await world.hold()
      const stop = orderItem({ b: false, p: '54000', s: '0.01666', r: true, t: trigger('sl', '55000') })
      const answer = await world.sendWhile(orderAction(stop), () =>
        world.change(position.record.id, { sl: usd(55_000) }),
      )
      const call = callsOf()
      assert.equal(call.functionName, 'updateSl')
      assert.deepEqual(call.args, [position.state.trade.index, usd(55_000)])
      const oid = await world.triggerOid(position.record.id, 'sl')
      assert.deepEqual(statusesOf(answer), [{ resting: { oid } }])
      // One client always sends a take profit in this form.
      const profit = orderItem({ b: false, p: '70000', s: '0.01666', r: true, t: trigger('tp', '70000', false) })
      const [pending] = await place(profit)
      assert.equal(callsOf().functionName, 'updateTp')
      const { hash } = world.relayer.taken.at(-1)!
      assert.deepEqual((pending as { pending: object }).pending, {
        oid: (pending as { resting: { oid: number } }).resting.oid,
        txHash: hash,
      })
    })

    it('replaces a trigger by an order of its own, and sends nothing for one that is set', async () => {
      const position = await world.hold({ sl: usd(55_000) })
      const stop = (px: string) => orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', px) })
      const before = restingOid((await place(stop('55000')))[0])
      assert.equal(world.relayer.taken.length, 0)
      const moved = restingOid((await place(stop('56000')))[0])
      assert.equal(world.relayer.taken.length, 1)
      world.change(position.record.id, { sl: usd(56_000) })
      assert.notEqual(moved, before)
      // Clients commonly move a stop by placing the new one and then cancelling the old one. The new stop must stay.
      const dead = { error: 'Order was never placed, already canceled, or filled.' }
      assert.deepEqual(statusesOf(await cancel(before)), [dead])
      assert.equal(world.relayer.taken.length, 1)
      await world.restart()
      assert.deepEqual(statusesOf(await cancel(before)), [dead])
      assert.deepEqual(statusesOf(await cancel(moved)), ['success'])
      assert.deepEqual(callsOf().args, [position.state.trade.index, 0n])
    })

    it('keeps the id of a trigger that could not be replaced', async () => {
      await world.hold({ sl: usd(55_000) })
      const stop = (px: string) => orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', px) })
      const before = restingOid((await place(stop('55000')))[0])
      world.relayer.refuse = new RelayRefusedError('busy', 'Too many actions wait.')
      assert.match(await errorOf(stop('56000')), /^Too many/)
      world.relayer.refuse = undefined
      assert.deepEqual(statusesOf(await cancel(before)), ['success'])
    })

    it('sets the triggers of all its trades in one transaction, under one id', async () => {
      const held = [await world.hold(), await world.hold({ sl: usd(56_000) }), await world.hold({ sl: usd(55_000) })]
      const stop = orderItem({ b: false, s: '0.04999', r: true, t: trigger('sl', '55000'), c: CLOID })
      const answer = await world.sendWhile(orderAction(stop), () => {
        for (const { record } of held) world.change(record.id, { sl: usd(55_000) })
      })
      const [status] = statusesOf(answer)
      const oid = restingOid(status)
      assert.equal(world.relayer.taken.length, 1)
      assert.equal((callsOf().args![0] as unknown[]).length, 2, 'the third has it already')
      const listed = await world.parts.reads.triggers.list(world.base.positions)
      assert.deepEqual(
        listed.map((order) => [Number(order.oid), order.price, order.parts.length]),
        [[oid, usd(55_000), 3]],
      )
    })

    it('takes as many transactions as it needs, and may be sent again whole when one was refused', async () => {
      const held = []
      for (let i = 0; i < 21; i += 1) held.push(await world.hold())
      const stop = orderItem({ b: false, s: '0.34994', r: true, t: trigger('sl', '55000'), c: CLOID })
      world.base.node.whileAsked = () => {
        world.base.node.isAway = world.relayer.taken.length > 0
      }
      await assert.rejects(place(stop), { name: 'NodeUnavailableError' })
      assert.equal(world.relayer.taken.length, 1)
      world.base.node.whileAsked = () => {}
      world.base.node.isAway = false
      for (const { record } of held.slice(0, 20)) world.change(record.id, { sl: usd(55_000) })
      const [status] = await place(stop)
      assert.deepEqual(callsOf().args, [held[20]!.state.trade.index, usd(55_000)])
      world.change(held[20]!.record.id, { sl: usd(55_000) })
      const listed = await world.parts.reads.triggers.list(world.base.positions)
      assert.deepEqual(
        listed.map((order) => [Number(order.oid), order.parts.length]),
        [[restingOid(status), 21]],
      )
    })

    it('gives what is added its triggers, in the order that adds it', async () => {
      await world.hold({ sl: usd(55_000), tp: usd(70_000) })
      const [status] = await place(orderItem())
      const { record } = await stored(restingOid(status))
      assert.deepEqual([record.request.sl, record.request.tp], ['55000', '70000'])
      // Its own trigger goes before that of the position.
      const own = orderItem({ b: false, r: true, t: trigger('sl', '57000') })
      const grouped = await world.send({ type: 'order', orders: [orderItem(), own], grouping: 'normalTpsl' })
      const { request } = (await stored(restingOid(statusesOf(grouped)[0]))).record
      assert.deepEqual([request.sl, request.tp], ['57000', '70000'])
    })

    it('gives an order that rests those that the contracts take for its own price', async () => {
      await world.hold({ sl: usd(55_000), tp: usd(70_000) })
      for (const [px, sl, tp] of [
        ['57000', '55000', '70000'],
        ['54000', null, '70000'],
      ] as const) {
        const [status] = await place(orderItem({ p: px, t: gtc }))
        const { request } = (await stored(restingOid(status))).record
        assert.deepEqual([request.sl, request.tp], [sl, tp])
      }
    })

    it('gives an order that executes at once those that the price has not passed', async () => {
      await world.hold({ sl: usd(58_000), tp: usd(62_000) })
      const { quotes } = world.base.market
      for (const [mark, px, sl, tp] of [
        [60_000, '60600', '58000', '62000'],
        [62_000, '62600', '58000', null],
        [57_900, '58400', null, '62000'],
      ] as const) {
        quotes.set(0, { ...quotes.get(0)!, mark: usd(mark) })
        const [status] = await place(orderItem({ p: px }))
        const { request } = (await stored(restingOid(status))).record
        assert.deepEqual([request.sl, request.tp], [sl, tp])
      }
    })

    it('gives what is added the price that was asked for, where the contracts moved it', async () => {
      const position = await world.hold()
      const stop = orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '40000') })
      await world.sendWhile(orderAction(stop), () => world.change(position.record.id, { sl: usd(54_982.9944) }))
      const [status] = await place(orderItem())
      assert.equal((await stored(restingOid(status))).record.request.sl, '40000')
      // Set natively since, to another price.
      world.change(position.record.id, { sl: usd(58_000.0044) })
      const [next] = await place(orderItem())
      assert.equal((await stored(restingOid(next))).record.request.sl, '58000')
    })

    it('takes any size of a trigger of the position, and no part otherwise', async () => {
      await world.hold()
      const part = orderItem({ b: false, s: '0.01', r: true, t: trigger('sl', '55000') })
      assert.match(await errorOf(part), /^TP\/SL orders are for the whole position/)
      const answer = await world.send({ type: 'order', orders: [{ ...part, s: '0' }], grouping: 'positionTpsl' })
      assert.ok('resting' in (statusesOf(answer)[0] as object))
    })

    it('refuses triggers on the wrong side, or without a position', async () => {
      assert.equal(
        await errorOf(orderItem({ b: false, r: true, t: trigger('sl', '55000') })),
        'Reduce only order would increase position. asset=0',
      )
      await world.hold()
      const whole = { b: false, s: '0.01666', r: true }
      assert.match(
        await errorOf(orderItem({ ...whole, t: trigger('sl', '61000') })),
        /^Invalid TP\/SL price\..* asset=0$/,
      )
      assert.match(
        await errorOf(orderItem({ ...whole, t: trigger('tp', '59000') })),
        /^Invalid TP\/SL price\..* asset=0$/,
      )
      assert.equal(world.relayer.taken.length, 0)
    })

    it('sets no trigger when one of its parts would not honour it', async () => {
      await world.hold({ leverage: 100_000, openPrice: usd(62_000) })
      await world.hold()
      const stop = orderItem({ b: false, s: '0.03332', r: true, t: trigger('sl', '55000') })
      assert.match(await errorOf(stop), /^Invalid TP\/SL price\. The sl 55000, which the contracts make 61640\.4,/)
      assert.equal(world.relayer.taken.length, 0)
    })

    it('sends nothing for a stop loss that the chain would move to where it is', async () => {
      // The furthest stop loss of the position, as the chain keeps it and as clients are shown it.
      await world.hold({ sl: usd(54_982.9944) })
      const stop = (px: string) => orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', px) })
      for (const px of ['40000', '54982.99']) assert.deepEqual(Object.keys((await place(stop(px)))[0]!), ['resting'])
      assert.equal(world.relayer.taken.length, 0)
    })

    it('rests as its take profit when it only reduces', async () => {
      const position = await world.hold()
      const [status] = await place(orderItem({ b: false, p: '70000', s: '0.01666', r: true, t: gtc }))
      assert.deepEqual(callsOf().args, [position.state.trade.index, usd(70_000)])
      assert.ok('resting' in (status as object))
      assert.match(await errorOf(orderItem({ b: false, p: '70000', s: '0.01', r: true, t: gtc })), /whole position/)
    })
  })

  describe('with triggers of its own', () => {
    const child = (tpsl: 'tp' | 'sl', px: string, changes = {}) =>
      orderItem({ b: false, r: true, t: trigger(tpsl, px), ...changes })
    const group = (...orders: ReturnType<typeof orderItem>[]) => ({ type: 'order', orders, grouping: 'normalTpsl' })

    it('is one order with both', async () => {
      const statuses = statusesOf(await world.send(group(orderItem(), child('tp', '66000'), child('sl', '57000'))))
      assert.deepEqual(statuses.slice(1), ['waitingForFill', 'waitingForFill'])
      assert.equal(world.relayer.taken.length, 1)
      const { record } = await stored((statuses[0] as { resting: { oid: number } }).resting.oid)
      assert.deepEqual([record.request.tp, record.request.sl], ['66000', '57000'])
    })

    it('names the triggers once it is filled', async () => {
      let position!: LivePosition
      const answer = await world.sendWhile(group(orderItem(), child('sl', '57000')), async (oid) => {
        position = await world.hold({ sl: usd(57_000) })
        await world.happen(oid, requested)
        await world.happen(oid, { ...executed, fill: { ...FILL, positionId: position.record.id } })
      })
      const [, sl] = statusesOf(answer)
      const oid = await world.triggerOid(position.record.id, 'sl')
      assert.deepEqual(sl, { resting: { oid } })
    })

    it('is refused as a whole', async () => {
      const statuses = statusesOf(await world.send(group(orderItem(), child('tp', '59000'))))
      const error =
        "Invalid TP/SL price. The take profit is on the wrong side of the price. A long's take profit has to be above the price of the order, a short's below it. Set another take profit, or none. asset=0"
      assert.deepEqual(statuses, [{ error }, { error }])
      const bad = [
        group(orderItem(), child('tp', '66000'), child('tp', '67000')),
        group(orderItem(), child('tp', '66000', { b: true })),
        group(child('tp', '66000')),
        group(orderItem(), child('tp', '66000', { s: '0.05' })),
      ]
      for (const action of bad) assert.equal((await world.send(action)).status, 'err')
      assert.equal(world.relayer.taken.length, 0)
    })
  })
})
