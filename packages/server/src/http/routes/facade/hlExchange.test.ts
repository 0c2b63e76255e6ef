import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import {
  openExchangeWorld,
  orderAction,
  orderItem,
  type ExchangeWorld,
} from '../../../facade/exchange/testing/exchangeWorld.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import { VECTOR_KEY } from '../../../facade/signing/testing/vectorSigner.ts'
import { createApp } from '../../createApp.ts'
import { registerHooks } from '../../hooks/registerHooks.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { hlExchangeRoute } from './hlExchange.ts'

describe('POST /hl/{chain}/exchange', () => {
  let world: ExchangeWorld
  let app: FastifyInstance

  beforeEach(async () => {
    world = await openExchangeWorld()
    app = createApp('silent')
    const { limits, now, orders } = world.parts
    registerHooks(app, { limits, limit: 20, trustedProxies: 0, now })
    registerRoute(app, hlExchangeRoute, { chains: [orders.chain], exchangeOf: () => world.parts, trustedProxies: 0 })
  })
  afterEach(async () => {
    await app.close()
    await world.remove()
  })

  const post = (payload: unknown, chain = 'arbitrum') =>
    app.inject({
      method: 'POST',
      url: `/hl/${chain}/exchange`,
      headers: { 'content-type': 'application/json' },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    })
  let nonce = 0
  const signed = (action = orderAction(orderItem()) as Parameters<ExchangeWorld['send']>[0]) =>
    signL1(VECTOR_KEY, { action, nonce: world.base.market.nowMs + (nonce += 1) })

  it('answers in plain JSON, with the limits in its headers', async () => {
    const answer = await post(signed())
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-type'], 'application/json')
    assert.equal(answer.json().status, 'ok')
    assert.equal(answer.headers['ratelimit-limit'], '20')
  })

  it('takes the signature as clients shorten and spell it', async () => {
    const { signature, ...rest } = signed({ type: 'noop' })
    const short = { ...signature, r: signature.r.replace(/^0x0+/, '0x'), v: signature.v - 27 }
    assert.equal(
      (await post({ ...rest, signature: short, vaultAddress: null, expiresAfter: null })).json().status,
      'ok',
    )
  })

  it('answers what can not be read with 422 and plain text', async () => {
    for (const body of [
      '{',
      '',
      '[]',
      '{"action":{"type":"order"}}',
      '{"action":1,"action":2}',
      signed({ type: 'order', orders: 1 }),
    ]) {
      const answer = await post(body)
      assert.equal(answer.statusCode, 422, String(body))
      assert.match(String(answer.headers['content-type']), /^text\/plain/)
      assert.match(answer.body, /^Failed to deserialize the JSON body into the target type/)
    }
  })

  it('answers an unknown chain with plain text, and our own trouble in JSON', async () => {
    const unknown = await post(signed(), 'nowhere')
    assert.equal(unknown.statusCode, 404)
    assert.match(String(unknown.headers['content-type']), /^text\/plain/)
    world.parts = { ...world.parts, relayer: null as never }
    const readOnly = await post(signed())
    assert.equal(readOnly.statusCode, 503)
    assert.equal(readOnly.json().code, 'CHAIN_READ_ONLY')
  })

  it('refuses an address that asks too much with 429 and plain text', async () => {
    for (let i = 0; i < 20; i += 1) await post(signed({ type: 'noop' }))
    const answer = await post(signed({ type: 'noop' }))
    assert.equal(answer.statusCode, 429)
    assert.match(String(answer.headers['content-type']), /^text\/plain/)
    assert.ok(Number(answer.headers['retry-after']) > 0)
  })

  it('tells an agent that asks too much in an err', async () => {
    world.parts = { ...world.parts, agentWritesLimit: 1 }
    await post(signed({ type: 'scheduleCancel' }))
    const answer = await post(signed({ type: 'scheduleCancel' }))
    assert.equal(answer.statusCode, 200)
    assert.match(answer.json().response, /^Too many cumulative requests sent/)
  })
})
