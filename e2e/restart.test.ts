import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }

describe('a restart in the middle of everything', () => {
  let world: TradingWorld

  before(async () => {
    world = await startTradingWorld()
  })
  after(() => world?.stop())

  it('finds every order where the chain has it', async () => {
    const client = await world.clientOf('trader-1', 'agent-1')
    const prepared = await client.prepare({ ...MARKET, clientId: 'prepared' })
    const resting = await client.trade({ ...MARKET, type: 'limit', price: '50000' }, 'open')
    const filled = await client.trade(MARKET, 'filled')
    await world.chain.control('bezel_pauseOracle', true)
    const waiting = await client.prepare(MARKET)
    await client.broadcast(waiting.transaction)
    await client.orderOnce(waiting.order.id, ({ status }) => status === 'pending')
    const held = (await client.account('/positions', 'listPositions')).body.data

    await world.stopService()
    // While the service is down, the oracle answers and the prepared order is mined.
    await client.broadcast(prepared.transaction)
    await world.chain.control('bezel_pauseOracle', false)
    await world.chain.event((event) => event.eventName === 'MarketExecuted' && event.args.index === 2)
    await world.startService()

    await client.orderOnce(waiting.order.id, ({ status }) => status === 'filled')
    await client.orderOnce(prepared.order.id, ({ status }) => status === 'filled')
    assert.equal((await client.order(resting.id)).status, 'open')
    assert.deepEqual(await client.order(filled.id), filled)
    const now = (await client.account('/positions', 'listPositions')).body.data
    assert.equal(now.length, 3)
    assert.equal(now[0].id, held[0].id)
    const repeat = await client.request('createOrder', 'POST', '/orders', { ...MARKET, clientId: 'prepared' })
    assert.deepEqual([repeat.status, repeat.body.order.id], [200, prepared.order.id])
  })

  it('the same after a crash', async () => {
    const client = await world.clientOf('trader-2', 'agent-2')
    const { order, transaction } = await client.prepare(MARKET)
    await client.broadcast(transaction)
    await world.crash()
    const filled = await client.orderOnce(order.id, ({ status }) => status === 'filled')
    const [position] = (await client.account('/positions', 'listPositions')).body.data
    await world.crash()
    assert.deepEqual(await client.order(order.id), filled)
    assert.equal((await client.account('/positions', 'listPositions')).body.data[0].id, position.id)
  })
})
