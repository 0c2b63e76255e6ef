import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { ApiError, CANDLE_INTERVALS, type CandleInterval } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import type { CandleWindow } from '../../../market/candles/candleReads.ts'
import { createMarketReads } from '../../../market/marketReads.ts'
import { createWorld, portsOf, type MarketWorld } from '../../../market/testing/fixtures.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createApp } from '../../createApp.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { getCandlesRoute, candleQuery } from './getCandles.ts'

const NOW_MS = Date.UTC(2026, 10, 14, 12, 34, 56, 789)

const HOUR_MS = 3_600_000

const PATH = '/v1/base/markets/EUR-USD/candles'

const BYTES = Buffer.from('{"data":[{"time":0,"open":"1","high":"2","low":"1","close":"2"}]}')

describe('GET candles', () => {
  let world: MarketWorld
  let app: FastifyInstance
  let asked: [number, CandleWindow][]
  let list: () => Promise<Buffer>

  beforeEach(() => {
    world = createWorld()
    asked = []
    list = async () => BYTES
    app = createApp('silent')
    registerRoute(app, getCandlesRoute, {
      chains: [testChain('base')],
      markets: new Map([['base', createMarketReads(portsOf(world))] as const]),
      now: () => world.nowMs,
      candles: {
        list(pairIndex, range) {
          asked.push([pairIndex, range])
          return list()
        },
      },
    })
  })

  async function get(path: string): Promise<[status: number, body: { code?: string; details?: unknown }]> {
    const answer = await app.inject(path)
    return [answer.statusCode, answer.json()]
  }

  it('asks for the pair of the market, in both spellings, and sends the bytes as they are', async () => {
    for (const symbol of ['EUR-USD', 'EUR%2FUSD']) {
      const answer = await app.inject(`/v1/base/markets/${symbol}/candles?interval=1m&from=0&to=59999`)
      assert.deepEqual([answer.statusCode, answer.body], [200, String(BYTES)])
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    }
    assert.deepEqual(asked[1], [21, { interval: '1m', fromMs: 0, toMs: 59_999 }])
  })

  it('has a tag exactly when all of its candles have ended', async () => {
    const hourMs = world.nowMs - (world.nowMs % HOUR_MS)
    for (const [query, isTagged] of [
      ['interval=1h', false],
      [`interval=1h&to=${hourMs}`, false],
      [`interval=1h&to=${hourMs - 1}`, true],
      [`interval=4h&to=${hourMs - 5 * HOUR_MS}`, true],
      [`interval=1h&to=${world.nowMs + HOUR_MS}`, false],
    ] as const) {
      const { headers } = await app.inject(`${PATH}?${query}`)
      assert.equal(headers.etag !== undefined, isTagged, query)
      assert.equal(headers.vary, 'Accept-Encoding')
    }
    const url = `${PATH}?interval=1h&to=${hourMs - 1}`
    const { etag } = (await app.inject(url)).headers
    const known = { 'if-none-match': String(etag) }
    assert.equal((await app.inject({ url, headers: known })).statusCode, 304)
    list = async () => Buffer.from('{"data":[]}')
    assert.equal((await app.inject({ url, headers: known })).statusCode, 200, 'one was repaired')
  })

  it('needs no live feed and no fresh chain', async () => {
    world.nowMs += 3_600_000
    world.isLagging = true
    assert.equal((await get('/v1/base/markets/BTC-USD/candles'))[0], 200)
  })

  it('refuses what there is not, and what makes no sense', async () => {
    assert.equal((await get('/v1/base/markets/FOO-USD/candles'))[1].code, 'MARKET_NOT_FOUND')
    assert.equal((await get('/v1/polygon/markets/BTC-USD/candles'))[1].code, 'CHAIN_NOT_FOUND')
    for (const query of ['interval=2m', 'from=x', 'from=2&to=1', 'limit=5', 'from=1&from=2', 'interval=1m&from=0']) {
      const [status, { code, details }] = await get(`${PATH}?${query}`)
      assert.deepEqual([status, code], [400, 'VALIDATION_ERROR'], query)
      assert.equal((details as { issues: unknown[] }).issues.length, 1)
    }
    assert.deepEqual(asked, [])
  })

  it('passes on that the history is away', async () => {
    list = () => Promise.reject(new ApiError('UPSTREAM_UNAVAILABLE', 'away'))
    assert.deepEqual(
      (await get(PATH)).map((part) => (typeof part === 'number' ? part : part.code)),
      [502, 'UPSTREAM_UNAVAILABLE'],
    )
  })
})

describe('the query of candles', () => {
  it('is the last 500 hours by default', () => {
    assert.deepEqual(candleQuery({}, NOW_MS), { interval: '1h', fromMs: NOW_MS - 500 * HOUR_MS, toMs: NOW_MS })
  })

  it('reaches back 500 intervals from its end, and never into the future', () => {
    const toMs = NOW_MS - 86_400_000
    assert.deepEqual(candleQuery({ interval: '5m', to: String(toMs) }, NOW_MS), {
      interval: '5m',
      fromMs: toMs - 500 * 300_000,
      toMs,
    })
    assert.equal(candleQuery({ interval: '1d', to: '5' }, NOW_MS).fromMs, 0)
    assert.equal(
      candleQuery({ from: '0', interval: '1d', to: String(NOW_MS * 2) }, 4_000 * 86_400_000).toMs,
      4_000 * 86_400_000,
    )
  })

  it('takes 5,000 candles and not one more, at every width', () => {
    for (const interval of Object.keys(CANDLE_INTERVALS) as CandleInterval[]) {
      const widthMs = CANDLE_INTERVALS[interval]
      const toMs = NOW_MS - (NOW_MS % widthMs)
      const query = (from: number) => ({ interval, from: String(from), to: String(toMs) })
      assert.deepEqual(issuesOf(query(toMs - 4_999 * widthMs)), [], interval)
      assert.deepEqual(issuesOf(query(toMs - 4_999 * widthMs - 1)), [], 'the one that begins there began before')
      assert.deepEqual(issuesOf(query(toMs - 5_000 * widthMs)), ['query.from'], interval)
    }
  })

  it('names what is wrong', () => {
    for (const from of ['', '-1', '1.5', '1e3', '01', ' 1', 'NaN', '99999999999999999', ['1', '2'], 'null']) {
      assert.deepEqual(issuesOf({ from }), ['query.from'], String(from))
      assert.deepEqual(issuesOf({ to: from }), ['query.to'], String(from))
    }
    for (const interval of ['', '2m', '1H', '60', '__proto__', ['1m', '1m']]) {
      assert.deepEqual(issuesOf({ interval }), ['query.interval'], String(interval))
    }
    assert.deepEqual(issuesOf({ limit: '5', From: '1' }), ['query.limit', 'query.From'])
    assert.deepEqual(issuesOf({ from: '2', to: '1' }), ['query.from'])
    assert.deepEqual(issuesOf({ from: String(NOW_MS + 1) }), ['query.from'])
  })
})

function issuesOf(query: Record<string, unknown>): readonly string[] {
  try {
    candleQuery(query, NOW_MS)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'VALIDATION_ERROR')
    return (error.details as { issues: { path: string }[] }).issues.map(({ path }) => path)
  }
  return []
}
