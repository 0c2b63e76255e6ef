import { Price, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { refoldOrder } from '../../journal/refold.ts'
import { usd } from '../../market/testing/fixtures.ts'
import { hashOf } from '../../orders/testing/chainEvents.ts'
import { FINAL_BLOCKS } from '../../orders/testing/ordersWorld.ts'
import { listRestores } from '../../store/facadeChoreStore.ts'
import { listEndedInheriting } from '../../store/facadeTriggerStore.ts'
import { deleteOrderEvents } from '../../store/orderEventStore.ts'
import { movePosition, savePositionState } from '../../store/positionStore.ts'
import type { Trade } from '../../trading/valuation/chainState.ts'
import { createStopInheritance } from './inheritStops.ts'
import {
  FILL,
  gtc,
  openExchangeWorld,
  orderItem,
  placedAt,
  statusesOf,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { orderSteps } from './testing/orderSteps.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const log = { warn: () => {} }

describe('triggers of added trades', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const { rest: place, innerCalls: lastCalls, pass: later, cancel, closeTightly } = orderSteps(() => world)
  const run = async () => {
    world.base.headBlock += 1
    await createStopInheritance(world.parts).run(log)
  }
  /** Creates a chore that remembers, and keeps what it warned of. */
  const inheritance = () => {
    const chore = createStopInheritance(world.parts)
    const warnings: unknown[] = []
    const round = async () => {
      world.base.headBlock += 1
      await chore.run({ warn: ({ err }: { err: unknown }) => void warnings.push(err) } as typeof log)
    }
    return { round, warnings }
  }
  /** Undoes the block in which the order was filled. */
  const undo = (oid: number, block: number) =>
    world.parts.orders.accountLog.transaction({ chain: 'arbitrum' }, { block, isReorg: true }, async (sql, journal) => {
      await deleteOrderEvents(sql, 'arbitrum', hashOf(block))
      await refoldOrder(sql, String(oid) as OrderId, world.base.orders.clock(), journal)
    })
  const waiting = () => listEndedInheriting(world.parts.store.read, 'arbitrum', { after: null, limit: 9 })

  /** Fills a resting order: its trade has the triggers that it carried. */
  const fill = async (oid: number, trade: Partial<Trade>) => {
    const position = await world.hold(trade)
    await world.parts.store.transaction(TEST_SCOPE, async (sql) => {
      await movePosition(sql, position.record.originOrderId, String(oid) as OrderId)
      await savePositionState(sql, position.record.id, position.state)
    })
    const at = world.base.positions.indexOf(position)
    world.base.positions[at] = { ...position, record: { ...position.record, originOrderId: String(oid) as OrderId } }
    await world.happen(oid, {
      kind: 'executed',
      pendingIndex: null,
      fill: { ...FILL, positionId: position.record.id },
    })
    return position
  }

  it('are brought in line once, after the order has been filled', async () => {
    await world.hold({ sl: usd(55_000), tp: usd(70_000) })
    const oid = await place({ p: '54000' })
    await world.happen(oid, placedAt(54_000))
    const sent = world.relayer.taken.length
    await run()
    assert.equal(world.relayer.taken.length, sent, 'it rests')
    const added = await fill(oid, { tp: usd(70_000) })
    await run()
    assert.deepEqual(lastCalls(), [['updateSl', added.state.trade.index, usd(55_000)]])
    // It is paid with the gas that is set aside for its stops.
    assert.deepEqual(world.relayer.taken.at(-1)!.purpose, { kind: 'stops', positionIds: [added.record.id] })
    world.change(added.record.id, { sl: usd(55_000) })
    await run()
    assert.equal(world.relayer.taken.length, sent + 1)
  })

  it('wait until everything of the trader is known, because the older trades may not be', async () => {
    const older = await world.hold({ sl: usd(55_000) })
    const oid = await place({ p: '54000' })
    await world.happen(oid, placedAt(54_000))
    const added = await fill(oid, {})
    const sent = world.relayer.taken.length
    world.base.positions.splice(world.base.positions.indexOf(older), 1)
    let isKnown = false
    const chore = createStopInheritance({ ...world.parts, orders: { ...world.parts.orders, isKnown: () => isKnown } })
    const round = async () => {
      world.base.headBlock += FINAL_BLOCKS + 1
      await chore.run(log)
    }
    await round()
    await round()
    world.base.positions.unshift(older)
    isKnown = true
    await round()
    assert.equal(world.relayer.taken.length, sent + 1)
    assert.deepEqual(lastCalls(), [['updateSl', added.state.trade.index, usd(55_000)]])
  })

  it('leave the closing slippage to a close that waits, and have it put back later', async () => {
    await world.hold({ sl: usd(55_000) })
    const oid = await place({ p: '54000' })
    await world.happen(oid, placedAt(54_000))
    const added = await fill(oid, {})
    await closeTightly(added)
    await run()
    assert.deepEqual(lastCalls(), [['updateSl', added.state.trade.index, usd(55_000)]])
    const owed = await listRestores(world.parts.store.read, 'arbitrum', { after: null, limit: 9 })
    assert.deepEqual(owed, [added.record.id])
  })

  it('are followed until the end of the order is final, and are set again where its block was undone', async () => {
    await world.hold({ sl: usd(55_000) })
    const oid = await place({ p: '54000' })
    await world.happen(oid, placedAt(54_000))
    const { round } = inheritance()
    const sent = world.relayer.taken.length
    const added = await fill(oid, {})
    const filledAt = world.base.headBlock
    await round()
    world.change(added.record.id, { sl: usd(55_000) })
    await round()
    // The trader changes it natively, which stays.
    world.change(added.record.id, { sl: usd(56_000) })
    await round()
    assert.equal(world.relayer.taken.length, sent + 1)
    await undo(oid, filledAt)
    await round()
    assert.equal((await waiting()).length, 0, 'it rests again')
    world.change(added.record.id, { sl: Price.zero })
    await world.happen(oid, { kind: 'executed', pendingIndex: null, fill: { ...FILL, positionId: added.record.id } })
    const again = world.base.headBlock
    later(15_000)
    await round()
    assert.equal(world.relayer.taken.length, sent + 2)
    world.change(added.record.id, { sl: usd(55_000) })
    world.base.headBlock = again + 62
    await round()
    assert.equal((await waiting()).length, 1)
    await round()
    assert.deepEqual(await waiting(), [])
  })

  it('are cleared where the cancel of the stop was on its way when the trade was added', async () => {
    for (const isMinedFirst of [false, true]) {
      world.base.positions.length = 0
      const held = await world.hold({ sl: usd(55_000) })
      const stop = await world.triggerOid(held.record.id, 'sl')
      const oid = await place({ p: '57000' })
      await world.happen(oid, placedAt(57_000))
      const { round } = inheritance()
      await cancel(stop)
      const { hash } = world.relayer.taken.at(-1)!
      later(120_000)
      const added = await fill(oid, { sl: usd(55_000) })
      if (isMinedFirst) world.change(held.record.id, { sl: Price.zero })
      await round()
      assert.deepEqual(lastCalls(), [['updateSl', added.state.trade.index, 0n]])
      world.change(added.record.id, { sl: Price.zero })
      world.change(held.record.id, { sl: Price.zero })
      const sent = world.relayer.taken.length
      world.relayer.settle(hash)
      later(60_000)
      await round()
      assert.equal(world.relayer.taken.length, sent)
    }
  })

  it('are those of a trade that was added at the same time where it brought its own', async () => {
    await world.hold()
    const own = orderItem({ b: false, r: true, t: trigger('sl', '52000') })
    const entry = orderItem({ p: '54000', t: gtc })
    const grouped = await world.send({ type: 'order', orders: [entry, own], grouping: 'normalTpsl' })
    const first = (statusesOf(grouped)[0] as { resting: { oid: number } }).resting.oid
    const second = await place({ p: '53000' })
    for (const oid of [first, second]) await world.happen(oid, placedAt(54_000))
    world.base.positions.length = 0
    await fill(first, { sl: usd(52_000) })
    const added = await fill(second, {})
    await run()
    assert.deepEqual(lastCalls(), [['updateSl', added.state.trade.index, usd(52_000)]])
  })

  it('follow what was moved or canceled since', async () => {
    const first = await world.hold({ sl: usd(55_000), tp: usd(70_000) })
    const oid = await place({ p: '58000' })
    await world.happen(oid, placedAt(58_000))
    world.change(first.record.id, { sl: Price.zero, tp: usd(71_000) })
    const added = await fill(oid, { sl: usd(55_000), tp: usd(70_000) })
    await run()
    const { index } = added.state.trade
    assert.deepEqual(lastCalls(), [
      ['updateSl', index, 0n],
      ['updateTp', index, usd(71_000)],
    ])
  })

  it('stay as they are where the trade is the whole position, or was closed', async () => {
    const held = await world.hold({ sl: usd(55_000) })
    const [first, second] = [await place({ p: '57000' }), await place({ p: '56000' })]
    for (const oid of [first, second]) await world.happen(oid, placedAt(57_000))
    const sent = world.relayer.taken.length
    world.base.positions.splice(world.base.positions.indexOf(held), 1)
    await fill(first, { sl: usd(55_000) })
    await world.happen(second, { kind: 'canceled' })
    await run()
    assert.equal(world.relayer.taken.length, sent)
    world.base.headBlock += 64
    await run()
    assert.deepEqual(await waiting(), [])
  })

  it('are tried again when they were refused', async () => {
    await world.hold({ sl: usd(55_000) })
    const oid = await place({ p: '54000' })
    await world.happen(oid, placedAt(54_000))
    await fill(oid, {})
    const { round } = inheritance()
    const sent = world.relayer.taken.length
    world.relayer.refuse = new Error('no gas')
    await round()
    world.relayer.refuse = undefined
    await round()
    assert.equal(world.relayer.taken.length, sent)
    later(15_000)
    await round()
    assert.equal(world.relayer.taken.length, sent + 1)
  })

  it('wait for an agent that may act, however long that takes, and somebody is told', async () => {
    await world.hold({ sl: usd(55_000) })
    const oid = await place({ p: '54000' })
    await world.happen(oid, placedAt(54_000))
    await fill(oid, {})
    const sent = world.relayer.taken.length
    await world.register({ revoked: true })
    const { round, warnings } = inheritance()
    for (const minutes of [0, 1, 60]) {
      later(minutes * 60_000)
      await round()
    }
    assert.equal(warnings.length, 3)
    assert.match(String(warnings[0]), /no agent in force/)
    assert.equal(world.relayer.taken.length, sent)
    world.base.headBlock += 100
    await world.register()
    later(600_000)
    await round()
    assert.equal(world.relayer.taken.length, sent + 1)
  })
})
