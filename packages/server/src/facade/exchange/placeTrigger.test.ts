import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { Price } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { usd } from '../../market/testing/fixtures.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { listRestores } from '../../store/facadeChoreStore.ts'
import { RelayRefusedError } from '../relayer/gasBudget.ts'
import { createTriggers, wholeKeyOf, type Triggers } from '../triggers.ts'
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

  const { place, stored, callsOf, innerCalls, cancel, restingOid, pass, closeTightly } = orderSteps(() => world)

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

    it('is moved back by a request that looked before the move was stored, and is stored after it', async () => {
      const move = (px: string) => world.send({ type: 'modify', oid, order: stop(px) })
      const { reads } = world.parts
      let looks = 0
      const onItsWay: Triggers['onItsWay'] = async (...of) => {
        const change = await reads.triggers.onItsWay(...of)
        // The first look finds the order, and the second one plans the change.
        if (++looks === 2) await move('56000')
        return change
      }
      world.parts = { ...world.parts, reads: { ...reads, triggers: { ...reads.triggers, onItsWay } } }
      assert.equal((await move('55000')).status, 'ok')
      assert.equal(world.relayer.taken.length, 2)
      assert.deepEqual(callsOf(1).args, [position.state.trade.index, usd(55_000)])
    })

    it('is placed again when its cancel arrives while it is asked what became of it', async () => {
      await cancel(oid)
      const { reads } = world.parts
      const onItsWay: Triggers['onItsWay'] = async () => {
        world.change(position.record.id, { sl: Price.zero })
        return undefined
      }
      world.parts = { ...world.parts, reads: { ...reads, triggers: { ...reads.triggers, onItsWay } } }
      await world.send(orderAction(stop('55000')))
      assert.equal(world.relayer.taken.length, 2)
      assert.deepEqual(callsOf(1).args, [position.state.trade.index, usd(55_000)])
    })

    it('is moved back by a node that did not send the move on its way', async () => {
      const onThis = world.parts
      const other = { ...onThis, reads: { ...onThis.reads, triggers: createTriggers(onThis.store) } }
      for (const [parts, px] of [
        [onThis, '56000'],
        [other, '55000'],
      ] as const) {
        world.parts = parts
        assert.deepEqual(Object.keys((await place(stop(px)))[0] as object), ['resting', 'pending'])
      }
      assert.deepEqual(callsOf(1).args, [position.state.trade.index, usd(55_000)])
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

  it('counts as on its way for as long as its transaction may be mined, however late', async () => {
    const position = await world.hold({ sl: usd(55_000) })
    const added = async () => (await stored(restingOid((await place(orderItem()))[0]))).record.request.sl
    await cancel(await world.triggerOid(position.record.id, 'sl'))
    for (const minutes of [0, 1, 10]) {
      pass(minutes * 60_000)
      assert.equal(await added(), null, `after ${minutes} minutes`)
    }
    world.relayer.settle(world.relayer.taken[0]!.hash)
    assert.equal(await added(), '55000', 'it was not mined')
  })

  describe('of trades whose closing slippage is tight', () => {
    const stop = (px: string) => orderItem({ b: false, s: '0.34994', r: true, t: trigger('sl', px) })
    const RESTORE = 'updateMaxClosingSlippageP'

    it('puts it back to the default, also where the price is there already, and then waits for that', async () => {
      const { record, state } = await world.hold({ sl: usd(55_000) })
      world.turn(record.id, { maxClosingSlippageP: 50 })
      const answer = await world.sendWhile(orderAction(stop('55000')), () =>
        world.turn(record.id, { maxClosingSlippageP: 1_000 }),
      )
      assert.deepEqual(Object.keys(statusesOf(answer)[0] as object), ['resting'])
      const { index } = state.trade
      assert.deepEqual(innerCalls(), [
        [RESTORE, index, 1_000],
        ['updateSl', index, usd(55_000)],
      ])
      await world.send(orderAction(stop('55000')))
      assert.equal(world.relayer.taken.length, 1)
    })

    it('takes more transactions where twenty calls do not hold it, and no call to remove it', async () => {
      for (let i = 0; i < 21; i += 1) {
        const { record } = await world.hold()
        if (i < 11) world.turn(record.id, { maxClosingSlippageP: 50 })
      }
      await world.send(orderAction(stop('55000')))
      const counts = world.relayer.taken.map((_, at) => innerCalls(at).length)
      assert.deepEqual(counts, [20, 12])
      for (const { record } of world.base.positions) world.change(record.id, { sl: usd(55_000) })
      for (const { hash } of world.relayer.taken) world.relayer.settle(hash)
      await cancel(await world.triggerOid(world.base.positions[0]!.record.id, 'sl'))
      const names = world.relayer.taken.slice(2).flatMap((_, at) => innerCalls(at + 2).map(([name]) => name))
      assert.deepEqual(new Set(names), new Set(['updateSl']))
      assert.equal(names.length, 21)
    })
  })

  describe('while something else puts the closing slippage back', () => {
    const whole = { b: false, s: '0.01666', r: true }
    const at = (kind: 'tp' | 'sl', px: string) => orderItem({ ...whole, t: trigger(kind, px) })
    const tight = async (sl = Price.zero) => {
      const position = await world.hold({ sl })
      world.turn(position.record.id, { maxClosingSlippageP: 50 })
      world.parts = { ...world.parts, fillWaitMs: 500 }
      return position
    }
    /** Mines the take profit of a position, which puts its slippage back. */
    const mineTakeProfit = ({ record }: LivePosition) => {
      world.turn(record.id, { maxClosingSlippageP: 1_000 })
      world.change(record.id, { tp: usd(70_000) })
    }
    const bothSent = () => until('both are sent', () => world.relayer.broadcasts.length === 2)
    const changing = (position: LivePosition) =>
      world.parts.reads.triggers.onItsWay(wholeKeyOf(position, 'sl'), world.relayer)

    it('is not told as set before it is', async () => {
      const position = await tight()
      const answer = world.send(orderAction(at('tp', '70000'), at('sl', '55000')))
      await bothSent()
      mineTakeProfit(position)
      const [tp, sl] = statusesOf(await answer)
      assert.deepEqual(Object.keys(tp as object), ['resting'])
      assert.deepEqual(Object.keys(sl as object), ['resting', 'pending'])
      assert.equal((await changing(position))?.price, usd(55_000))
    })

    it('is moved back while its move is on its way', async () => {
      const position = await tight(usd(55_000))
      const oid = await world.triggerOid(position.record.id, 'sl')
      const tp = world.send(orderAction(at('tp', '70000')))
      const moved = world.send({ type: 'modify', oid, order: at('sl', '56000') })
      await bothSent()
      mineTakeProfit(position)
      await Promise.all([tp, moved])
      await world.send({ type: 'modify', oid, order: at('sl', '55000') })
      assert.deepEqual(innerCalls(2), [['updateSl', position.state.trade.index, usd(55_000)]])
    })

    it('is not told as removed, nor as set again after a removal, before it is', async () => {
      const position = await tight(usd(55_000))
      const oid = await world.triggerOid(position.record.id, 'sl')
      const removed = cancel(oid)
      await until('it is sent', () => world.relayer.broadcasts.length === 1)
      const again = world.send(orderAction(at('sl', '55000')))
      await bothSent()
      world.turn(position.record.id, { maxClosingSlippageP: 1_000 })
      await removed
      assert.equal((await changing(position))?.price, usd(55_000))
      assert.deepEqual(Object.keys(statusesOf(await again)[0] as object), ['resting', 'pending'])
    })
  })

  describe('while a tight close waits', () => {
    const stop = (px: string) => orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', px) })
    let position: LivePosition

    beforeEach(async () => {
      position = await world.hold()
      await closeTightly(position)
    })
    const owed = () => listRestores(world.parts.store.read, 'arbitrum', { after: null, limit: 9 })

    it('is set without touching its slippage, which is put back later', async () => {
      const { id } = position.record
      await world.sendWhile(orderAction(stop('55000')), () => world.change(id, { sl: usd(55_000) }))
      assert.deepEqual(innerCalls(), [['updateSl', position.state.trade.index, usd(55_000)]])
      assert.deepEqual(await owed(), [id])
    })

    it('sends nothing where the price is there already', async () => {
      world.change(position.record.id, { sl: usd(55_000) })
      for (let i = 0; i < 2; i += 1) {
        const [status] = statusesOf(await world.send(orderAction(stop('55000'))))
        assert.deepEqual(Object.keys(status as object), ['resting'])
      }
      assert.equal(world.relayer.taken.length, 0)
      assert.deepEqual(await owed(), [position.record.id])
      await cancel(await world.triggerOid(position.record.id, 'sl'))
      assert.deepEqual(innerCalls(), [['updateSl', position.state.trade.index, 0n]])
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
    assert.equal((await world.parts.reads.triggers.onItsWay(key, world.relayer))?.price, usd(56_000))
    world.relayer.fail(world.relayer.taken.at(-1)!.hash)
    const text = 'A transaction failed on chain: 20 of 21 trades have changed. Look at the order again. asset=0'
    assert.deepEqual(statusesOf(await answer), [{ error: text }])
    assert.equal(await world.parts.reads.triggers.onItsWay(key, world.relayer), undefined)
  })
})
