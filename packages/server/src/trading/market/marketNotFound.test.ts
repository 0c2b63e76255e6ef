import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { marketNotFound } from './marketNotFound.ts'

const MARKETS = new Map(['BTC/USD', 'ETH/USD', 'EUR/USD', 'USD/JPY', 'BTCDEGEN/USD'].map((name) => [name, null]))

describe('marketNotFound', () => {
  it('names the market that was meant, as bodies and as paths spell it', () => {
    const cases: readonly (readonly [given: string, nearest: string | null])[] = [
      ['btc/usd', 'BTC/USD'],
      ['BTC-USD', 'BTC/USD'],
      ['btc_usd', 'BTC/USD'],
      ['BTCUSD', 'BTC/USD'],
      ['BTC', 'BTC/USD'],
      ['BTC-PERP', 'BTC/USD'],
      ['BTC/USDT', 'BTC/USD'],
      ['BTCUSDT', 'BTC/USD'],
      ['BTCDEGEN', 'BTCDEGEN/USD'],
      ['USDJPY', 'USD/JPY'],
      ['EURUSD', 'EUR/USD'],
      ['BTV/USD', 'BTC/USD'],
      ['XBT/USD', 'BTC/USD'],
      ['ETHH-PERP', 'ETH/USD'],
      ['PEPE', null],
      ['NO/USD', null],
      ['USD', 'USD/JPY'],
      ['', null],
      ['/', null],
      ['<script>', null],
    ]
    for (const [given, nearest] of cases) {
      const { code, details, message } = marketNotFound(MARKETS, given)
      const nearestPath = nearest === null ? null : nearest.replace('/', '-')
      assert.deepEqual([code, details], ['MARKET_NOT_FOUND', { market: given, nearest, nearestPath }], given)
      assert.match(message, /like BTC\/USD, paths like BTC-USD/)
      assert.ok(nearest === null || message.includes(`Did you mean ${nearest}?`), message)
      assert.equal(message.includes('Listed are BTC/USD, ETH/USD, EUR/USD,'), nearest === null, message)
    }
  })

  it('lists no more than a person reads', () => {
    const many = new Map(Array.from({ length: 300 }, (_, at) => [`M${at}/USD`, null] as const))
    const { message } = marketNotFound(many, 'QQQQQQ')
    assert.match(message, /Listed are M0\/USD, .*, M7\/USD and 292 more: GET \/v1\/\{chain\}\/markets has all\./)
  })

  it('quotes no more than a name can have', () => {
    const { message, details } = marketNotFound(MARKETS, 'X'.repeat(5_000))
    assert.ok(message.length < 300)
    assert.equal(String(details!.market).length, 24)
  })
})
