import { diamondAbi, type OrderId } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { decodeFunctionData } from 'viem'
import { usd } from '../../market/testing/fixtures.ts'
import { findOrder } from '../../store/orderStore.ts'
import {
  alo,
  gtc,
  openExchangeWorld,
  orderAction,
  orderItem,
  placedAt,
  statusesOf,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'

const CLOID = `0x${'c1'.repeat(16)}`
const resting = (changes = {}) => orderItem({ p: '50000', t: gtc, ...changes })

describe('modify', () => {
  let world: ExchangeWorld
  let oid: number

  beforeEach(async () => {
    world = await openExchangeWorld()
    const answer = await world.sendWhile(orderAction(resting({ c: CLOID })), (id) =>
      world.happen(id, placedAt(), 'trade:4' as never),
    )
    oid = (statusesOf(answer)[0] as { resting: { oid: number } }).resting.oid
  })
  afterEach(() => world.remove())

  const batch = (...modifies: { oid: number | string; order: ReturnType<typeof orderItem> }[]) => ({
    type: 'batchModify',
    modifies,
  })
  const errorOf = async (order: ReturnType<typeof orderItem>, id: number | string = oid): Promise<string> => {
    const answer = await world.send({ type: 'modify', oid: id, order })
    assert.equal(answer.status, 'err')
    return answer.response as string
  }
  const lastCall = () => {
    const { calldata } = world.relayer.taken.at(-1)!.attempt
    const { args } = decodeFunctionData({ abi: diamondAbi, data: calldata as `0x${string}` })
    return decodeFunctionData({ abi: diamondAbi, data: (args as readonly unknown[])[1] as `0x${string}` })
  }

  it('changes the price under the same id', async () => {
    const answer = await world.sendWhile(batch({ oid, order: resting({ p: '50001' }) }), () =>
      world.happen(oid, { ...placedAt(50_001), kind: 'updated' }),
    )
    assert.deepEqual(statusesOf(answer), [{ resting: { oid, cloid: CLOID } }])
    assert.equal(lastCall().functionName, 'updateOpenOrder')
    const stored = await findOrder(world.parts.store.read, String(oid) as OrderId)
    assert.equal(stored?.state?.price, '50001')
  })

  it('places the same size again at another price, with the collateral that it costs there', async () => {
    await world.send(batch({ oid, order: resting({ p: '45000' }) }))
    const { functionName, args } = lastCall()
    assert.equal(functionName, 'multicall')
    const [cancelled, opened] = (args![0] as `0x${string}`[]).map((data) =>
      decodeFunctionData({ abi: diamondAbi, data }),
    )
    assert.deepEqual([cancelled!.functionName, opened!.functionName], ['cancelOpenOrder', 'openTrade'])
    const { collateralAmount, openPrice } = opened!.args![0] as { collateralAmount: bigint; openPrice: bigint }
    assert.deepEqual([collateralAmount, openPrice], [placedAt(45_000).collateralAmount, usd(45_000)])
  })

  it('changes the size in one transaction, also by the id of the client', async () => {
    const answer = await world.send(batch({ oid: CLOID, order: resting({ s: '0.2' }) }))
    assert.equal(lastCall().functionName, 'multicall')
    const { hash } = world.relayer.taken.at(-1)!
    assert.deepEqual(statusesOf(answer), [{ resting: { oid, cloid: CLOID }, pending: { oid, txHash: hash } }])
  })

  it('answers as its action does', async () => {
    const answer = await world.send({ type: 'modify', oid, order: resting({ p: '51000' }) })
    assert.deepEqual(answer, { status: 'ok', response: { type: 'default' } })
  })

  it('sends nothing when nothing changes', async () => {
    const sent = world.relayer.taken.length
    const answer = await world.send(batch({ oid, order: resting({ p: '50000.00', c: CLOID }) }))
    assert.deepEqual(statusesOf(answer), [{ resting: { oid, cloid: CLOID } }])
    assert.equal(world.relayer.taken.length, sent)
  })

  it('refuses what would be another order', async () => {
    assert.match(await errorOf(resting({ b: false })), /side of an order can not be changed/)
    assert.match(await errorOf(resting({ r: true })), /can not be made reduce-only/)
    assert.match(await errorOf(resting({ c: `0x${'d'.repeat(32)}` })), /cloid of an order can not be changed/)
    assert.match(await errorOf(orderItem()), /can not become an Ioc order/)
    assert.match(await errorOf(resting({ t: trigger('sl', '64000') })), /type of an order can not be changed/)
    assert.match(await errorOf(resting({ p: '61000', t: alo })), /^Post only order would have immediately matched,/)
    assert.match(await errorOf(resting({ p: '50000.001' })), /^Price must be divisible by tick size\./)
    assert.match(await errorOf(resting({ a: 21 })), /^Order was never placed/)
    assert.equal(await errorOf(resting(), 999), 'Order was never placed, already canceled, or filled.')
  })

  it('refuses an order that is being executed, or is over', async () => {
    const [market] = statusesOf(await world.send(orderAction(orderItem())))
    const { resting: ids } = market as { resting: { oid: number } }
    assert.equal(await errorOf(orderItem(), ids.oid), 'Order is being executed and cannot be canceled.')
    await world.happen(oid, { kind: 'canceled' })
    assert.equal(await errorOf(resting({ p: '51000' })), 'Order was never placed, already canceled, or filled.')
  })

  it('tells each of a batch', async () => {
    const answer = await world.send(batch({ oid: 999, order: resting() }, { oid, order: resting({ p: '51000' }) }))
    const [dead, changed] = statusesOf(answer)
    assert.deepEqual(dead, { error: 'Order was never placed, already canceled, or filled. asset=0' })
    assert.ok('resting' in (changed as object))
  })

  it('moves a take profit or stop loss', async () => {
    const position = await world.hold({ sl: usd(55_000) })
    const id = await world.triggerOid(position.record.id, 'sl')
    const stop = (px: string, changes = {}) =>
      orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', px), ...changes })
    const answer = await world.sendWhile(batch({ oid: id, order: stop('56000') }), () =>
      world.change(position.record.id, { sl: usd(56_000) }),
    )
    assert.deepEqual(statusesOf(answer), [{ resting: { oid: id } }])
    assert.deepEqual(lastCall().args, [position.state.trade.index, usd(56_000)])
    assert.match(await errorOf(stop('61000'), id), /^Invalid TP\/SL price\./)
    assert.match(await errorOf(stop('57000', { s: '0.001' }), id), /whole position/)
    assert.match(await errorOf(stop('57000', { b: true }), id), /side of an order/)
    assert.match(await errorOf(stop('70000', { t: trigger('tp', '70000') }), id), /TP order can not become an SL/)
  })

  const stop = (px: string, s: string) => orderItem({ b: false, s, r: true, t: trigger('sl', px) })

  it('moves the stop of all trades of a position under the same id', async () => {
    const held = [await world.hold({ sl: usd(55_000) }), await world.hold({ sl: usd(55_000) })]
    const id = await world.triggerOid(held[1]!.record.id, 'sl')
    const before = world.relayer.taken.length
    const answer = await world.sendWhile(batch({ oid: id, order: stop('56000', '0.03333') }), () => {
      for (const { record } of held) world.change(record.id, { sl: usd(56_000) })
    })
    assert.deepEqual(statusesOf(answer), [{ resting: { oid: id } }])
    assert.equal(world.relayer.taken.length, before + 1)
    assert.equal(lastCall().functionName, 'multicall')
    for (const { record } of held) assert.equal(await world.triggerOid(record.id, 'sl'), id)
    assert.match(await errorOf(stop('57000', '0.01666'), id), /whole position/)
  })

  it('moves one of two stops that differ by its own size, and both by the size of all', async () => {
    const held = [await world.hold({ sl: usd(55_000) }), await world.hold({ sl: usd(56_000) })]
    const [first, id] = await Promise.all(held.map(({ record }) => world.triggerOid(record.id, 'sl')))
    assert.notEqual(first, id)
    await world.send(batch({ oid: id!, order: stop('56500', '0.01666') }))
    assert.deepEqual(lastCall().args, [held[1]!.state.trade.index, usd(56_500)])
    await world.send(batch({ oid: id!, order: stop('57000', '0.03333') }))
    assert.equal((lastCall().args![0] as unknown[]).length, 2)
    for (const { record } of held) world.change(record.id, { sl: usd(57_000) })
    assert.equal(await world.triggerOid(held[0]!.record.id, 'sl'), id, 'it is the order that was named')
  })

  it('gives a resting order the triggers that the contracts take at its new price', async () => {
    await world.hold({ sl: usd(55_000), tp: usd(70_000) })
    for (const [p, tp, sl] of [
      ['58000', 70_000, 55_000],
      // It executes at once, and the contracts would move the stop loss to where the price has passed it.
      ['69000', 70_000, 0],
      ['99000', 0, 0],
    ] as const) {
      await world.send(batch({ oid, order: resting({ p }) }))
      const calls = (lastCall().args![0] as `0x${string}`[]).map((data) =>
        decodeFunctionData({ abi: diamondAbi, data }),
      )
      const trade = calls[1]!.args![0] as { tp: bigint; sl: bigint }
      assert.deepEqual([trade.tp, trade.sl], [usd(tp), usd(sl)], p)
    }
  })
})
