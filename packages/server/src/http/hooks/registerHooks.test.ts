import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { createInProcessLimits } from '../../access/inProcessLimits.ts'
import { createApp } from '../createApp.ts'
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
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after', 'x-request-id']) {
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

  it('opens nothing else', async () => {
    const app = appWith(10)
    for (const url of ['/metrics', '/healthy', '/v12', '/', '/openapi.jsonx']) {
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
