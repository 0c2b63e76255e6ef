import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { MarketFundingSchema, MarketSchema, PriceSchema } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import { createMarketReads } from '../../../market/marketReads.ts'
import { createWorld, portsOf, usd, type MarketWorld } from '../../../market/testing/fixtures.ts'
import { NO_CONTROLS } from '../../../access/testing/noControls.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createApp } from '../../createApp.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { PUBLIC_ROUTES, type PublicContext } from '../registerRoutes.ts'

const BASE = testChain('base')

describe('the routes of markets', () => {
  let world: MarketWorld
  let app: FastifyInstance

  beforeEach(() => {
    world = createWorld()
    app = createApp('silent')
    const context: PublicContext = {
      sendHome: (_request, reply) => reply.redirect('/home'),
      chains: [BASE],
      notReadyReason: () => undefined,
      marketsLeftOut: () => [],
      redisWarning: () => undefined,
      marketsWarning: () => undefined,
      providersWarning: () => undefined,
      diamondWarning: () => undefined,
      domainName: 'Test API',
      relayerOf: () => null,
      knownSince: () => ({ block: 7, timestampMs: null }),
      controls: NO_CONTROLS,
      relayerState: () => undefined,
      now: () => world.nowMs,
      markets: new Map([['base', createMarketReads(portsOf(world))]]),
    }
    for (const route of PUBLIC_ROUTES) registerRoute(app, route, context)
  })

  async function get(path: string) {
    const answer = await app.inject(path)
    return { status: answer.statusCode, headers: answer.headers, body: answer.json() }
  }
  const PATHS = ['/v1/base/markets', '/v1/base/prices', '/v1/base/markets/BTC-USD', '/v1/base/markets/BTC-USD/funding']

  it('lists the markets in the order of their index', async () => {
    const { status, headers, body } = await get('/v1/base/markets')
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    for (const market of body.data) assert.ok(Value.Check(MarketSchema, market))
    assert.deepEqual(
      body.data.map(({ symbol, isOpen }: { symbol: string; isOpen: boolean }) => [symbol, isOpen]),
      [
        ['BTC/USD', true],
        ['EUR/USD', false],
      ],
    )
  })

  it('gives one market bare, the same as in the list, in both spellings', async () => {
    const [listed] = (await get('/v1/base/markets')).body.data
    for (const symbol of ['BTC-USD', 'BTC%2FUSD', 'BTC%2fUSD']) {
      assert.deepEqual((await get(`/v1/base/markets/${symbol}`)).body, listed)
    }
  })

  it('gives the funding bare, with the market', async () => {
    const { body } = await get('/v1/base/markets/BTC%2FUSD/funding')
    assert.ok(Value.Check(MarketFundingSchema, body))
    const { funding } = (await get('/v1/base/markets/BTC-USD')).body
    assert.deepEqual(body, { ...funding, market: 'BTC/USD' })
  })

  it('gives the prices of all markets, each with its time', async () => {
    const { body } = await get('/v1/base/prices')
    for (const price of body.data) assert.ok(Value.Check(PriceSchema, price))
    assert.deepEqual(body.data, [
      { market: 'BTC/USD', mark: '60000', index: '60000', updatedAt: world.nowMs },
      { market: 'EUR/USD', mark: '1.16', index: '1.16', updatedAt: world.nowMs - 3_600_000 },
    ])
  })

  it('makes its bytes anew when a price changes', async () => {
    await get('/v1/base/prices')
    world.quotes.set(0, { ...world.quotes.get(0)!, mark: usd(61_000) })
    world.version += 1
    assert.equal((await get('/v1/base/prices')).body.data[0].mark, '61000')
  })

  it('is answered with 304 while nothing changes, and anew when a price does', async () => {
    const markets = { url: '/v1/base/markets' }
    const { etag } = (await app.inject(markets)).headers
    const again = { ...markets, headers: { 'if-none-match': String(etag) } }
    assert.equal((await app.inject(again)).statusCode, 304)
    // The bytes are made anew, and say the same.
    world.version += 1
    assert.equal((await app.inject(again)).statusCode, 304)
    world.isLagging = true
    assert.equal((await app.inject(again)).statusCode, 503)
    world.isLagging = false
    world.quotes.delete(21)
    world.version += 1
    assert.equal((await app.inject(again)).statusCode, 200)
  })

  it('has a tag where a client can use it, and is the same for everybody where it is compressed', async () => {
    const headers = { 'accept-encoding': 'gzip;q=1, identity;q=0' }
    for (const [url, isShared, isTagged] of [
      ['/v1/base/markets', true, true],
      ['/v1/base/prices', true, false],
      ['/v1/base/markets/BTC-USD', false, false],
      ['/v1/base/markets/NO-USD', false, false],
      ['/v1/base', false, false],
    ] as const) {
      const answer = await app.inject({ url, headers })
      assert.equal(answer.headers['content-encoding'], isShared ? 'gzip' : undefined, url)
      assert.equal(answer.headers.vary, isShared ? 'Accept-Encoding' : undefined, url)
      assert.equal(answer.headers.etag !== undefined, isTagged, url)
      if (!isShared) continue
      assert.equal(String(gunzipSync(answer.rawPayload)), (await app.inject(url)).body)
    }
  })

  it('leaves a market without any price out of the lists', async () => {
    world.quotes.delete(21)
    assert.equal((await get('/v1/base/markets')).body.data.length, 1)
    assert.equal((await get('/v1/base/prices')).body.data.length, 1)
  })

  it('knows no other chain and no other market', async () => {
    for (const path of PATHS) {
      const { status, body } = await get(path.replace('base', 'polygon'))
      assert.deepEqual([status, body.code], [404, 'CHAIN_NOT_FOUND'])
    }
    const strange = [
      'FOO-USD',
      'btc-usd',
      'BTC',
      'BTC-USD-X',
      'BTC%00USD',
      '%F0%9F%92%A9',
      '__proto__',
      'a'.repeat(90),
      '..%2F..',
    ]
    for (const symbol of strange) {
      for (const path of [`/v1/base/markets/${symbol}`, `/v1/base/markets/${symbol}/funding`]) {
        const { status, body } = await get(path)
        assert.deepEqual([status, body.code], [404, 'MARKET_NOT_FOUND'], path)
      }
    }
  })

  it('answers NOT_READY with the reason and when to come back', async () => {
    const cases: [change: () => void, paths: readonly string[], reason: string][] = [
      [() => (world.chain = undefined), PATHS, 'starting'],
      [() => (world.hasSnapshot = false), PATHS, 'starting'],
      [() => (world.nowMs += 5_001), PATHS, 'feed_stale'],
      [() => (world.isLagging = true), PATHS.filter((path) => !path.endsWith('prices')), 'chain_lagging'],
    ]
    for (const [change, paths, reason] of cases) {
      const before = { ...world }
      change()
      for (const path of paths) {
        const { status, headers, body } = await get(path)
        assert.deepEqual([status, body.code, ownDetails(body.details)], [503, 'NOT_READY', { reason }], path)
        assert.equal(headers['retry-after'], '1')
      }
      Object.assign(world, before)
    }
  })

  it('shows a quiet market while others tick, and says how old its price is', async () => {
    const quietSinceMs = world.nowMs
    world.nowMs += 3_600_000
    world.quotes.set(21, { ...world.quotes.get(21)!, updatedAtMs: world.nowMs })
    for (const path of PATHS) assert.equal((await get(path)).status, 200, path)
    const prices: { market: string; updatedAt: number }[] = (await get('/v1/base/prices')).body.data
    assert.deepEqual(
      prices.map(({ market, updatedAt }) => [market, updatedAt]),
      [
        ['BTC/USD', quietSinceMs],
        ['EUR/USD', world.nowMs],
      ],
    )
  })

  it('goes on with what does not need the part that is missing', async () => {
    world.isLagging = true
    assert.equal((await get('/v1/base/prices')).status, 200)
    world.isLagging = false
    world.nowMs += 3_600_000
    assert.equal((await get('/v1/base')).status, 200)
    assert.equal((await get('/health')).status, 200)
  })
})
