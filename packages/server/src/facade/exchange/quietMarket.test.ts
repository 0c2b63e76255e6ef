import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import { usd } from '../../market/testing/fixtures.ts'
import { gtc, openExchangeWorld, orderItem, trigger, type ExchangeWorld } from './testing/exchangeWorld.ts'
import { orderSteps } from './testing/orderSteps.ts'

describe('actions in a quiet market', () => {
  let world: ExchangeWorld
  beforeEach(async () => {
    world = await openExchangeWorld()
    // BTC has been silent for ten minutes, while another market ticks.
    const { market } = world.base
    const btc = market.quotes.get(0)!
    market.quotes.set(0, { ...btc, updatedAtMs: market.nowMs - 600_000 })
    market.quotes.set(21, { ...market.quotes.get(21)!, updatedAtMs: market.nowMs })
  })
  afterEach(() => world.remove())

  const { place, callsOf } = orderSteps(() => world)
  const isQuiet = (error: unknown): boolean =>
    error instanceof ApiError && error.code === 'NOT_READY' && error.details?.['market'] === 'BTC/USD'

  it('open nothing without the word of a second witness', async () => {
    for (const item of [orderItem({ p: '61000' }), orderItem({ p: '50000', t: gtc })]) {
      await assert.rejects(place(item), isQuiet)
    }
    world.base.witnessed.set(0, usd(60_000))
    const [status] = await place(orderItem({ p: '61000' }))
    assert.ok('resting' in (status as object), JSON.stringify(status))
  })

  it('close and protect with the last mark', async () => {
    await world.hold()
    await place(orderItem({ b: false, p: '59000', s: '0.01666', r: true }))
    assert.equal(callsOf().functionName, 'closeTradeMarket')
    await place(orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '58000') }))
    assert.equal(callsOf().functionName, 'updateSl')
  })
})
