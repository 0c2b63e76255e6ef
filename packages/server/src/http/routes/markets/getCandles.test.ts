import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { ApiError } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import type { CandleRange } from '../../../market/candles/candleReads.ts'
import { createMarketReads } from '../../../market/marketReads.ts'
import { createWorld, portsOf, type MarketWorld } from '../../../market/testing/fixtures.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createApp } from '../../createApp.ts'
import { getCandles } from './getCandles.ts'

const PATH = '/v1/base/markets/EUR-USD/candles'
const BYTES = Buffer.from('{"data":[{"time":0,"open":"1","high":"2","low":"1","close":"2"}]}')

describe('GET candles', () => {
  let world: MarketWorld
  let app: FastifyInstance
  let asked: [number, CandleRange][]
  let list: () => Promise<Buffer>

  beforeEach(() => {
    world = createWorld()
    asked = []
    list = async () => BYTES
    app = createApp('silent')
    getCandles(app, {
      chains: [testChain('base')],
      markets: new Map([['base', createMarketReads(portsOf(world))]]),
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
