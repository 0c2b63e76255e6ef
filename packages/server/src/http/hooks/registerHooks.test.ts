import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { createInProcessLimits } from '../../access/inProcessLimits.ts'
import { Type } from '@sinclair/typebox'
import { createApp } from '../createApp.ts'
import { countOf } from '../parameters.ts'
import { defineRoute } from '../route.ts'
import { registerRoute } from './registerRoute.ts'
import { allowOrigins, registerHooks } from './registerHooks.ts'

const ORIGIN = { origin: 'https://somewhere.example' }

const PREFLIGHT = { ...ORIGIN, 'access-control-request-method': 'POST' }

function appWith(limit: number): FastifyInstance {
  const app = createApp('silent')
  registerHooks(app, { limits: createInProcessLimits(), limit, trustedProxies: 0, now: () => 0 })
  allowOrigins(app, { headerPrefix: 'X-Test-' })
  app.get('/health', async () => ({ status: 'ok' }))
  app.get('/metrics', async () => 'secret')
  app.get('/v1/:chain', async () => {
    throw new ApiError('CHAIN_NOT_FOUND', 'no')
  })
  app.post('/v1/:chain/orders', async () => ({}))
  return app
}

describe('weights', () => {
  it('are charged to the IP before the route runs, by the rule of the route', async () => {
    const app = appWith(10)
    const list = defineRoute({
      method: 'GET',
      path: '/v1/:chain/list',
      operationId: 'aList',
      tag: 'Markets',
      access: 'public',
      summary: 'Lists',
      errors: [],
      query: { limit: countOf(100) },
      responses: { 200: Type.Unknown() },
      handler: async () => ({}),
    })
    registerRoute(app, list, {})
    const left = async (url: string): Promise<unknown> => (await app.inject({ url })).headers['ratelimit-remaining']
    assert.equal(await left('/v1/base/list'), '9')
    assert.equal(await left('/v1/base/list?limit=100'), '8')
    assert.equal(await left('/v1/base/list?limit=101'), '6')
    assert.equal(await left('/v1/base/nothing?limit=500'), '5', 'of no route')
    const whole = await app.inject({ url: '/v1/base/list?limit=500&x=1' })
    assert.equal(whole.statusCode, 200)
    const heavy = await app.inject({ url: '/v1/base/list?limit=101' })
    assert.deepEqual([heavy.statusCode, heavy.headers['ratelimit-remaining']], [429, '0'])
  })

  it('are not hidden by a fragment, where the router would begin a query too', async (t) => {
    const app = createApp('silent')
    registerHooks(app, { limits: createInProcessLimits(), limit: 10, trustedProxies: 0, now: () => 0 })
    app.get('/', { config: { weightOf: () => 2 } }, async () => ({}))
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    t.after(() => app.close())
    // Clients that know what a URL is never send a fragment.
    const ask = (path: string) =>
      new Promise<IncomingMessage>((resolve) => get(url, { path, agent: false }, (answer) => resolve(answer.resume())))
    for (const path of ['/#a=1', '/?a=1#b']) {
      const { statusCode, headers } = await ask(path)
      assert.equal(statusCode, 400, path)
      assert.ok(Number(headers['ratelimit-remaining']) < 10, 'it is charged')
    }
  })

  it('are refused as a whole, and the rest of the limit stays', async () => {
    const app = createApp('silent')
    registerHooks(app, { limits: createInProcessLimits(), limit: 3, trustedProxies: 0, now: () => 0 })
    app.get('/', { config: { weightOf: () => 2 } }, async () => ({}))
    const ask = (url: string) => app.inject({ url })
    assert.equal((await ask('/?a')).statusCode, 200)
    const refused = await ask('/?a')
    assert.deepEqual([refused.statusCode, refused.headers['ratelimit-remaining']], [429, '1'])
    assert.match(refused.json<{ message: string }>().message, /has 1 left, and this request weighs more/)
    assert.equal((await ask('/')).statusCode, 200)
  })
})

describe('the overload guard', () => {
  it('sheds the routes without credentials, and none else', async () => {
    const app = createApp('silent')
    const refusal = new ApiError('NOT_READY', 'too much', { reason: 'overloaded' })
    const overload = {
      admit() {
        throw refusal
      },
      shed: () => 0,
      tick() {},
    }
    const limits = createInProcessLimits()
    registerHooks(app, { limits, limit: 100, trustedProxies: 0, now: () => 0, overload })
    app.get('/open', { config: { isAnonymous: true } }, async () => ({}))
    app.get('/signed', async () => ({}))
    const shed = await app.inject({ url: '/open' })
    assert.deepEqual([shed.statusCode, shed.headers['retry-after']], [503, '1'])
    assert.equal((await app.inject({ url: '/signed' })).statusCode, 200)
  })
})

describe('CORS', () => {
  it('answers a preflight with 204, what is allowed, and what is left of the limit', async () => {
    const answer = await appWith(10).inject({ method: 'OPTIONS', url: '/v1/base/orders?x=1', headers: PREFLIGHT })
    assert.equal(answer.statusCode, 204)
    assert.equal(answer.body, '')
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    const allowed = String(answer.headers['access-control-allow-headers']).split(', ')
    for (const name of ['Content-Type', 'X-Test-Agent', 'X-Test-Timestamp', 'X-Test-Nonce', 'X-Test-Signature']) {
      assert.ok(allowed.includes(name), name)
    }
    assert.ok(allowed.includes('X-Test-Api-Key'))
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
      assert.match(String(answer.headers['access-control-allow-methods']), new RegExp(`\\b${method}\\b`))
    }
    assert.equal(answer.headers['ratelimit-limit'], '10')
    assert.equal(answer.headers['ratelimit-remaining'], '9')
    assert.match(String(answer.headers['x-request-id']), /./)
  })

  it('opens answers, and lets pages read the headers that matter', async () => {
    const answer = await appWith(10).inject({ url: '/health', headers: ORIGIN })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
    const exposed = String(answer.headers['access-control-expose-headers']).toLowerCase()
    for (const name of [
      'location',
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
      'retry-after',
      'etag',
      'x-request-id',
    ]) {
      assert.ok(exposed.includes(name), name)
    }
  })

  it('opens refusals too, those of the limit and of unknown routes among them', async () => {
    const app = appWith(2)
    for (const [url, status] of [
      ['/v1/mars', 404],
      ['/v1/mars/no/such', 404],
      ['/v1/mars', 429],
    ] as const) {
      const answer = await app.inject({ url, headers: ORIGIN })
      assert.equal(answer.statusCode, status)
      assert.equal(answer.headers['access-control-allow-origin'], '*')
    }
    const refused = await app.inject({ method: 'OPTIONS', url: '/v1/mars', headers: PREFLIGHT })
    assert.equal(refused.statusCode, 429)
    assert.equal(refused.json<{ code: string }>().code, 'RATE_LIMITED')
  })

  it('opens the index', async () => {
    const app = appWith(10)
    for (const url of ['/', '/?a=1']) {
      assert.equal((await app.inject({ url, headers: ORIGIN })).headers['access-control-allow-origin'], '*', url)
    }
  })

  it('opens nothing else', async () => {
    const app = appWith(10)
    for (const url of ['/metrics', '/healthy', '/v12', '/docs', '/openapi.jsonx']) {
      assert.equal((await app.inject({ url, headers: ORIGIN })).headers['access-control-allow-origin'], undefined, url)
    }
    const preflight = await app.inject({ method: 'OPTIONS', url: '/metrics', headers: PREFLIGHT })
    assert.equal(preflight.statusCode, 404)
  })

  it('leaves an OPTIONS that is no preflight an unknown method', async () => {
    const answer = await appWith(10).inject({ method: 'OPTIONS', url: '/v1/base/orders', headers: ORIGIN })
    assert.equal(answer.statusCode, 404)
    assert.equal(answer.json<{ code: string }>().code, 'NOT_FOUND')
  })
})
