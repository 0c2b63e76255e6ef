import { diamondAbi, Price, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { decodeFunctionData } from 'viem'
import { usd } from '../../market/testing/fixtures.ts'
import { encodeErrorResult } from 'viem'
import { reverted } from '../../orders/testing/scriptedNode.ts'
import { findOrder } from '../../store/orderStore.ts'
import { savePositionState } from '../../store/positionStore.ts'
import {
  executed,
  gtc,
  openExchangeWorld,
  orderAction,
  orderItem,
  placedAt,
  requested,
  statusesOf,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const DEAD = { error: 'Order was never placed, already canceled, or filled.' }
const CLOID = `0x${'c1'.repeat(16)}`

describe('cancel', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const placeResting = async (changes = {}): Promise<number> => {
    const answer = await world.sendWhile(orderAction(orderItem({ p: '50000', t: gtc, ...changes })), (oid) =>
      world.happen(oid, placedAt(), 'trade:4' as never),
    )
    return (statusesOf(answer)[0] as { resting: { oid: number } }).resting.oid
  }
  const cancels = (...oids: number[]) => ({ type: 'cancel', cancels: oids.map((o) => ({ a: 0, o })) })
  const lastCall = () => {
    const { calldata } = world.relayer.taken.at(-1)!.attempt
    const { args } = decodeFunctionData({ abi: diamondAbi, data: calldata as `0x${string}` })
    return decodeFunctionData({ abi: diamondAbi, data: (args as readonly unknown[])[1] as `0x${string}` })
  }
  const statusOf = async (oid: number) =>
    (await findOrder(world.parts.store.read, String(oid) as OrderId))?.state?.status

  it('ends a resting order', async () => {
    const oid = await placeResting()
    const answer = await world.sendWhile(cancels(oid), () => world.happen(oid, { kind: 'canceled' }))
    assert.deepEqual(statusesOf(answer), ['success'])
    assert.equal(lastCall().functionName, 'cancelOpenOrder')
    assert.equal(await statusOf(oid), 'canceled')
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), [DEAD])
  })

  it('is on its way when it takes longer, and is not sent twice', async () => {
    const oid = await placeResting()
    const sent = world.relayer.taken.length
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), ['success'])
    assert.deepEqual(statusesOf(await world.send(cancels(oid, oid))), ['success', 'success'])
    assert.equal(world.relayer.taken.length, sent + 1)
    world.base.market.nowMs += 15_000
    world.base.market.quotes.set(0, { ...world.base.market.quotes.get(0)!, updatedAtMs: world.base.market.nowMs })
    assert.deepEqual(statusesOf(await world.send(cancels(oid), { nonce: world.base.market.nowMs })), ['success'])
    assert.equal(world.relayer.taken.length, sent + 2)
  })

  it('is sent again when the first was wanted for a moment only', async () => {
    const oid = await placeResting()
    const sent = world.relayer.taken.length
    const nonce = world.base.market.nowMs + 900
    await world.send(cancels(oid), { expiresAfter: world.base.market.nowMs + 500 })
    world.base.market.nowMs += 499
    assert.deepEqual(statusesOf(await world.send(cancels(oid), { nonce })), ['success'])
    assert.equal(world.relayer.taken.length, sent + 1)
    world.base.market.nowMs += 1
    assert.deepEqual(statusesOf(await world.send(cancels(oid), { nonce: nonce + 1 })), ['success'])
    assert.equal(world.relayer.taken.length, sent + 2)
  })

  it('says so when the order was filled first', async () => {
    const oid = await placeResting()
    const answer = await world.sendWhile(cancels(oid), () => world.happen(oid, { ...executed, pendingIndex: null }))
    assert.deepEqual(statusesOf(answer), [DEAD])
  })

  it('does not forget an order that is being executed', async () => {
    const answer = await world.send(orderAction(orderItem()))
    const { oid } = (statusesOf(answer)[0] as { resting: { oid: number } }).resting
    const executing = [{ error: 'Order is being executed and cannot be canceled.' }]
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), executing)
    await world.happen(oid, requested)
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), executing)
    await world.happen(oid, executed)
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), [DEAD])
  })

  it('waits for an order that is on its way to the chain', async () => {
    const placed = await world.send(orderAction(orderItem({ p: '50000', t: gtc })))
    const { oid } = (statusesOf(placed)[0] as { resting: { oid: number } }).resting
    world.parts = { ...world.parts, fillWaitMs: 500 }
    const answer = world.send(cancels(oid))
    await world.happen(oid, placedAt(), 'trade:4' as never)
    assert.deepEqual(statusesOf(await answer), ['success'])
    assert.equal(lastCall().functionName, 'cancelOpenOrder')
  })

  it('knows nothing of what is not there, of another coin or of somebody else', async () => {
    const oid = await placeResting()
    const action = {
      type: 'cancel',
      cancels: [
        { a: 0, o: 999 },
        { a: 21, o: oid },
        { a: 0, o: 0 },
      ],
    }
    assert.deepEqual(statusesOf(await world.send(action)), [DEAD, DEAD, DEAD])
    await world.register({ trader: `0x${'2'.repeat(40)}` as never, signedAtMs: 2 })
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), [DEAD])
  })

  it('removes a take profit or stop loss', async () => {
    const position = await world.hold({ sl: usd(55_000), tp: usd(70_000) })
    const oid = await world.triggerOid(position.record.id, 'sl')
    const answer = await world.sendWhile(cancels(oid), () => world.change(position.record.id, { sl: Price.zero }))
    assert.deepEqual(statusesOf(answer), ['success'])
    assert.deepEqual(lastCall().args, [position.state.trade.index, 0n])
    assert.equal(lastCall().functionName, 'updateSl')
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), [DEAD])
    const tp = await world.triggerOid(position.record.id, 'tp')
    world.base.positions.length = 0
    assert.deepEqual(statusesOf(await world.send(cancels(tp))), [DEAD])
  })

  it('passes on what the contracts say against it', async () => {
    const oid = await placeResting()
    world.base.node.simulation = reverted(encodeErrorResult({ abi: diamondAbi, errorName: 'PendingTrigger' }))
    const [status] = statusesOf(await world.send(cancels(oid)))
    assert.match((status as { error: string }).error, /^Order is being executed and cannot be canceled\./)
  })

  it('finds orders by the ids of their client', async () => {
    await placeResting({ c: CLOID.toUpperCase().replace('X', 'x') })
    const byCloid = {
      type: 'cancelByCloid',
      cancels: [
        { asset: 0, cloid: CLOID },
        { asset: 0, cloid: `0x${'0'.repeat(32)}` },
      ],
    }
    assert.deepEqual(statusesOf(await world.send(byCloid)), ['success', DEAD])
    assert.equal(lastCall().functionName, 'cancelOpenOrder')
  })

  it('finds a trigger by the id of its client', async () => {
    const position = await world.hold()
    const stop = orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '55000'), c: CLOID })
    await world.sendWhile(orderAction(stop), () => world.change(position.record.id, { sl: usd(55_000) }))
    const answer = await world.send({ type: 'cancelByCloid', cancels: [{ asset: 0, cloid: CLOID }] })
    assert.deepEqual(statusesOf(answer), ['success'])
    assert.deepEqual(lastCall().args, [position.state.trade.index, 0n])
  })

  it('does not forget a trigger that is on its way to the chain', async () => {
    const position = await world.hold()
    const stop = orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '55000') })
    const [placed] = statusesOf(await world.send(orderAction(stop)))
    const { oid } = (placed as { resting: { oid: number } }).resting
    const executing = { error: 'Order is being executed and cannot be canceled.' }
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), [executing])
    world.change(position.record.id, { sl: usd(55_000) })
    const answer = await world.sendWhile(cancels(oid), () => world.change(position.record.id, { sl: Price.zero }))
    assert.deepEqual(statusesOf(answer), ['success'])
    assert.deepEqual(statusesOf(await world.send(cancels(oid))), [DEAD])
  })

  it('removes the trigger of every trade that the position is made of', async () => {
    const held = [await world.hold({ sl: usd(55_000) }), await world.hold({ sl: usd(55_000) })]
    const [oid, same] = await Promise.all(held.map(({ record }) => world.triggerOid(record.id, 'sl')))
    assert.equal(oid, same)
    const answer = await world.sendWhile(cancels(oid!), () => {
      for (const { record } of held) world.change(record.id, { sl: Price.zero })
    })
    assert.deepEqual(statusesOf(answer), ['success'])
    assert.equal(lastCall().functionName, 'multicall')
    assert.equal(world.relayer.taken.length, 1)
    assert.deepEqual(statusesOf(await world.send(cancels(oid!))), [DEAD])
  })

  it('removes what differs too by the order that was placed for all, and by another order only its own', async () => {
    const held = [await world.hold(), await world.hold({ sl: usd(57_000) }), await world.hold({ sl: usd(57_000) })]
    const other = await world.triggerOid(held[1]!.record.id, 'sl')
    const stop = orderItem({ b: false, s: '0.04999', r: true, t: trigger('sl', '55000') })
    const [placed] = statusesOf(await world.send(orderAction(stop)))
    const { oid } = (placed as { resting: { oid: number } }).resting
    assert.deepEqual(statusesOf(await world.send(cancels(other))), [DEAD], 'another order took its place')
    // One of the trades is changed natively afterwards.
    for (const { record } of held.slice(0, 2)) world.change(record.id, { sl: usd(55_000) })
    const single = await world.triggerOid(held[2]!.record.id, 'sl')
    assert.notEqual(single, oid)
    await world.send(cancels(single))
    assert.deepEqual(lastCall().args, [held[2]!.state.trade.index, 0n])
    await world.send(cancels(oid))
    assert.equal((lastCall().args![0] as unknown[]).length, 3)
  })

  it('removes what is left of a stop after the trade that had its id was closed', async () => {
    const held = [await world.hold(), await world.hold()]
    const stop = orderItem({ b: false, s: '0.03332', r: true, t: trigger('sl', '55000') })
    const [placed] = statusesOf(await world.send(orderAction(stop)))
    const { oid } = (placed as { resting: { oid: number } }).resting
    world.change(held[0]!.record.id, { sl: usd(55_000) })
    // The other one was changed natively.
    world.change(held[1]!.record.id, { sl: usd(56_000) })
    assert.equal(await world.triggerOid(held[0]!.record.id, 'sl'), oid)
    const other = await world.triggerOid(held[1]!.record.id, 'sl')
    const closed = { ...world.base.positions.shift()!.state, isOpen: false, updatedAtMs: 2 }
    await world.parts.store.transaction(TEST_SCOPE, (sql) => savePositionState(sql, held[0]!.record.id, closed))
    const answer = await world.sendWhile(cancels(oid), () => world.change(held[1]!.record.id, { sl: Price.zero }))
    assert.deepEqual(statusesOf(answer), ['success'])
    assert.deepEqual(lastCall().args, [held[1]!.state.trade.index, 0n])
    assert.deepEqual(statusesOf(await world.send(cancels(other))), [DEAD])
  })
})
