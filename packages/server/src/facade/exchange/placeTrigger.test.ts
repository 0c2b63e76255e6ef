import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { Price } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { usd } from '../../market/testing/fixtures.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { RelayRefusedError } from '../relayer/gasBudget.ts'
import { wholeKeyOf } from '../triggers.ts'
import {
  openExchangeWorld,
  orderAction,
  orderItem,
  statusesOf,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { orderSteps } from './testing/orderSteps.ts'

describe('placeTrigger', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const { place, stored, callsOf, cancel, restingOid } = orderSteps(() => world)

  describe('a trigger that is changing', () => {
    const whole = { b: false, s: '0.01666', r: true }
    const stop = (px: string) => orderItem({ ...whole, t: trigger('sl', px) })
    let position: LivePosition
    let oid: number

    beforeEach(async () => {
      position = await world.hold({ sl: usd(55_000) })
      oid = await world.triggerOid(position.record.id, 'sl')
    })

    it('is given the same one again while its cancel is on its way', async () => {
      assert.deepEqual(statusesOf(await cancel(oid)), ['success'])
      const again = await world.sendWhile(orderAction(stop('55000')), () => {
        world.change(position.record.id, { sl: Price.zero })
        world.change(position.record.id, { sl: usd(55_000) })
      })
      assert.deepEqual(callsOf().args, [position.state.trade.index, usd(55_000)])
      const [status] = statusesOf(again)
      assert.deepEqual(Object.keys(status as object), ['resting'])
      assert.notEqual(restingOid(status), oid)
    })

    it('says that it waits while only what was sent before has arrived', async () => {
      await cancel(oid)
      const sent = world.send(orderAction(stop('55000')))
      world.change(position.record.id, { sl: Price.zero })
      const [status] = statusesOf(await sent)
      assert.ok('pending' in (status as object), JSON.stringify(status))
    })

    it('is moved back while its move is on its way', async () => {
      const move = (px: string) => world.send({ type: 'modify', oid, order: stop(px) })
      for (const px of ['56000', '55000']) assert.equal((await move(px)).status, 'ok')
      assert.equal(world.relayer.taken.length, 2)
      assert.deepEqual(callsOf().args, [position.state.trade.index, usd(55_000)])
    })

    it('gives what is added no trigger whose cancel is on its way, and again once that failed', async () => {
      const added = async () => (await stored(restingOid((await place(orderItem()))[0]))).record.request.sl
      assert.equal(await added(), '55000')
      const { parts, relayer } = world
      world.parts = { ...parts, fillWaitMs: 20_000 }
      const answer = cancel(oid)
      await until('it is sent', () => relayer.broadcasts.length === 2)
      world.parts = parts
      assert.equal(await added(), null)
      relayer.fail(relayer.taken[1]!.hash)
      assert.match(JSON.stringify(statusesOf(await answer)), /failed on chain and changed nothing/)
      assert.equal(await added(), '55000')
    })
  })

  it('says how much was set where it takes several transactions and one does not happen', async () => {
    const held: LivePosition[] = []
    for (let i = 0; i < 21; i += 1) held.push(await world.hold())
    const stop = (px: string) => orderItem({ b: false, s: '0.34994', r: true, t: trigger('sl', px) })
    world.base.node.whileAsked = () => {
      world.relayer.refuse =
        world.relayer.taken.length === 0 ? undefined : new RelayRefusedError('busy', 'Too many actions wait.')
    }
    const [refused] = await place(stop('55000'))
    assert.deepEqual(refused, {
      error: 'Too many actions wait. The change of 20 of 21 trades was sent before. asset=0',
    })
    world.base.node.whileAsked = () => {}
    world.relayer.refuse = undefined
    const key = wholeKeyOf(held[0]!, 'sl')
    world.parts = { ...world.parts, fillWaitMs: 20_000 }
    const answer = world.send(orderAction(stop('56000')))
    await until('both are sent', () => world.relayer.broadcasts.length === 3)
    for (const { record } of held.slice(0, 20)) world.change(record.id, { sl: usd(56_000) })
    await nextTick()
    assert.equal(world.parts.reads.triggers.onItsWay(key, world.base.market.nowMs)?.price, usd(56_000))
    world.relayer.fail(world.relayer.taken.at(-1)!.hash)
    const text = 'A transaction failed on chain: 20 of 21 trades have changed. Look at the order again. asset=0'
    assert.deepEqual(statusesOf(await answer), [{ error: text }])
    assert.equal(world.parts.reads.triggers.onItsWay(key, world.base.market.nowMs), undefined)
  })
})
