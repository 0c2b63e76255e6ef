import { Price, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { usd } from '../../market/testing/fixtures.ts'
import { until } from '@bezel/testkit/until.ts'
import {
  gtc,
  openExchangeWorld,
  orderAction,
  orderItem,
  placedAt,
  statusesOf,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'

const FAILED = { error: 'The transaction failed on chain and changed nothing: look at the order again.' }
const CLOID = `0x${'c1'.repeat(16)}`

describe('a relayed transaction that fails on the chain', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  /** Sends an action and makes its transaction fail while the answer is held. */
  async function sendInVain(action: Parameters<ExchangeWorld['send']>[0]) {
    const answer = await world.sendWhile(action, async () => {
      await until('somebody waits for it', () => world.relayer.watched > 0)
      world.relayer.fail(world.relayer.taken.at(-1)!.hash)
    })
    assert.equal(world.relayer.watched, 0)
    return answer
  }

  async function placeResting(): Promise<OrderId> {
    const [status] = statusesOf(await world.send(orderAction(orderItem({ p: '50000', t: gtc }))))
    const { oid } = (status as { resting: { oid: number } }).resting
    await world.happen(oid, placedAt(), 'trade:4' as never)
    return String(oid) as OrderId
  }

  it('is told of a cancel, which can be sent again', async () => {
    const oid = Number(await placeResting())
    const cancel = { type: 'cancel', cancels: [{ a: 0, o: oid }] }
    assert.deepEqual(statusesOf(await sendInVain(cancel)), [FAILED])
  })

  it('is told of a change, alone and in a batch', async () => {
    const oid = Number(await placeResting())
    const order = orderItem({ p: '51000', t: gtc })
    assert.deepEqual(await sendInVain({ type: 'modify', oid, order }), { status: 'err', response: FAILED.error })
    const batch = { type: 'batchModify', modifies: [{ oid, order: orderItem({ p: '52000', t: gtc }) }] }
    assert.deepEqual(statusesOf(await sendInVain(batch)), [FAILED])
  })

  it('is told of a stop loss, whose id is free again', async () => {
    const { record } = await world.hold()
    const stop = orderAction(orderItem({ b: false, s: '0.01666', r: true, c: CLOID, t: trigger('sl', '55000') }))
    assert.deepEqual(statusesOf(await sendInVain(stop)), [{ error: `${FAILED.error} asset=0` }])
    const again = await world.sendWhile(stop, () => world.change(record.id, { sl: usd(55_000) }))
    assert.ok('resting' in (statusesOf(again)[0] as object))
    assert.equal(world.relayer.taken.length, 2)
  })

  it('is told of a stop loss that is moved or removed', async () => {
    const { record } = await world.hold({ sl: usd(55_000) })
    const oid = await world.triggerOid(record.id, 'sl')
    const order = orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '56000') })
    const moved = { type: 'batchModify', modifies: [{ oid: Number(oid), order }] }
    assert.deepEqual(statusesOf(await sendInVain(moved)), [FAILED])
    const removed = { type: 'cancel', cancels: [{ a: 0, o: Number(oid) }] }
    assert.deepEqual(statusesOf(await sendInVain(removed)), [FAILED])
  })

  it('is told of margin that was to be added', async () => {
    await world.hold()
    const answer = await sendInVain({ type: 'updateIsolatedMargin', asset: 0, isBuy: true, ntli: 5_000_000 })
    assert.deepEqual(answer, { status: 'err', response: FAILED.error })
  })

  it('is nothing to wait for once it has worked', async () => {
    const { record } = await world.hold({ sl: usd(55_000) })
    const oid = await world.triggerOid(record.id, 'sl')
    const removed = { type: 'cancel', cancels: [{ a: 0, o: Number(oid) }] }
    const answer = await world.sendWhile(removed, () => world.change(record.id, { sl: Price.zero }))
    assert.deepEqual(statusesOf(answer), ['success'])
    assert.equal(world.relayer.watched, 0)
  })
})
