import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { InfoClient, HttpTransport, SubscriptionClient, WebSocketTransport } from '@nktkas/hyperliquid'
import { ccxtOf, SYMBOL } from './ccxtClient.ts'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'
import { envelopeOf, postRaw } from './rawExchange.ts'
import { until } from '@bezel/testkit/until.ts'

/** A deployment without a relayer key. */
describe('the facade without a relayer', () => {
  let world: FacadeWorld

  before(async () => {
    world = await startFacadeWorld({ service: { BEZEL_RELAYER_KEY: '' } })
  })
  after(() => world?.stop())

  it('refuses every action that would need one, and only those', async () => {
    const agent = world.chain.account('agent-1')
    for (const action of [{ type: 'scheduleCancel' }, { type: 'approveAgent' }, { type: 'cancel', cancels: [] }]) {
      const { status, type, text } = await postRaw(world, await envelopeOf(agent, action))
      assert.equal(status, 503, text)
      assert.match(type, /^application\/json/)
      assert.equal(JSON.parse(text).code, 'CHAIN_READ_ONLY')
    }
    const ignored = await postRaw(world, await envelopeOf(agent, { type: 'noop' }))
    assert.deepEqual([ignored.status, JSON.parse(ignored.text).status], [200, 'ok'])
    const custody = await postRaw(world, await envelopeOf(agent, { type: 'withdraw3' }))
    assert.deepEqual([custody.status, JSON.parse(custody.text).status], [200, 'err'])
  })

  it('answers reads, and sends what happens', async () => {
    const exchange = ccxtOf(world, 'trader-1', 'agent-1')
    assert.equal((await exchange.fetchTicker(SYMBOL)).last, 60_000)
    await assert.rejects(exchange.createOrder(SYMBOL, 'limit', 'buy', 0.05, 50_000), /CHAIN_READ_ONLY/)
    const info = new InfoClient({ transport: new HttpTransport({ apiUrl: `${world.base}/` }) })
    const state = await info.clearinghouseState({ user: world.chain.account('trader-1').address })
    assert.ok(Number(state.withdrawable) > 0)
    const socket = new WebSocketTransport({ url: world.socketUrl })
    const mids: string[] = []
    await new SubscriptionClient({ transport: socket }).allMids((told) => mids.push(told.mids.BTC!))
    await world.setPrice(60_100)
    await until('the price is told', () => Number(mids.at(-1)) === 60_100)
    await socket.close()
  })
})
