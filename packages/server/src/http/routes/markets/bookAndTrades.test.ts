import { StoreUnavailableError } from '../../../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { OrderBookSchema, parseAddress, RecentTradeSchema, type Hex } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import { createMarketReads } from '../../../market/marketReads.ts'
import { BTC, chainMarkets, createWorld, portsOf, type MarketWorld } from '../../../market/testing/fixtures.ts'
import { insertFill } from '../../../store/fillStore.ts'
import { sampleFill } from '../../../store/testing/sampleFill.ts'
import { migrate } from '../../../store/openStore.ts'
import type { Store } from '../../../store/sql.ts'
import { openTestStore, type TestStore } from '../../../store/testing/testStore.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { createApp } from '../../createApp.ts'
import { registerRoute } from '../../hooks/registerRoute.ts'
import { createAnswerChecker } from '../../../docs/openapi/answerChecker.ts'
import { referenceDocument } from '../../../docs/openapi/createDocument.ts'
import { getOrderBookRoute } from './getOrderBook.ts'
import { getRecentTradesRoute } from './getRecentTrades.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

const BASE = testChain('base')

const ARBITRUM = testChain('arbitrum')

const HASH = `0x${'cd'.repeat(32)}` as Hex

const TRADER = parseAddress(`0x${'a1'.repeat(20)}`)!

const TRADES = 120

/** A depth of 30 bands with 100 USD each, one band per 100 ppm of distance from the mark. */
const DEPTH = {
  totalDepthUsd: 3_000n,
  sharesBps: Array.from({ length: 30 }, (_, i) => (BigInt(i + 1) * 10_000n) / 30n),
  offsetsPpm: Array.from({ length: 30 }, (_, i) => BigInt(i + 1) * 100n),
}

function deepMarkets() {
  const chain = chainMarkets()
  const btc = { ...BTC, listing: { ...BTC.listing, depthAbove: DEPTH, depthBelow: DEPTH } }
  return { ...chain, markets: new Map([...chain.markets, [BTC.symbol, btc]]) }
}

describe('the routes of book and trades', () => {
  const checker = createAnswerChecker(referenceDocument())
  let opened: TestStore
  let world: MarketWorld
  let app: FastifyInstance
  let isStoreAway: boolean

  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (let id = 1; id <= TRADES; id += 1) {
        const blockHash = `0x${id.toString(16).padStart(64, '0')}` as Hex
        const place = { blockHash, blockNumber: id, logIndex: 0, txHash: HASH, timestampMs: id }
        await insertFill(sql, { chain: 'base', trader: TRADER, pairIndex: 0, place, fill: sampleFill(id) })
      }
    })
  })
  after(() => opened.remove())

  beforeEach(() => {
    world = createWorld()
    world.chain = deepMarkets()
    isStoreAway = false
    app = createApp('silent')
    const reads = createMarketReads(portsOf(world))
    const store: Pick<Store, 'read'> = {
      get read() {
        if (isStoreAway) throw new StoreUnavailableError('gone')
        return opened.store.read
      },
    }
    const context = {
      chains: [BASE, ARBITRUM],
      markets: new Map([['base', reads] as const, ['arbitrum', reads] as const]),
      store,
    }
    registerRoute(app, getOrderBookRoute, context)
    registerRoute(app, getRecentTradesRoute, context)
  })

  async function get(operationId: 'getOrderBook' | 'getRecentTrades', path: string) {
    const answer = await app.inject(path)
    checker.assert(operationId, answer.statusCode, answer.json())
    return { status: answer.statusCode, body: answer.json() }
  }
  const getBook = (query = '', symbol = 'BTC-USD') => get('getOrderBook', `/v1/base/markets/${symbol}/book${query}`)
  const getTrades = (query = '', symbol = 'BTC-USD', chain = 'base') =>
    get('getRecentTrades', `/v1/${chain}/markets/${symbol}/trades${query}`)

  it('gives 20 levels of each side around the mark, or as many as asked for', async () => {
    const { status, body } = await getBook()
    assert.equal(status, 200)
    assert.ok(Value.Check(OrderBookSchema, body))
    assert.deepEqual([body.market, body.markPrice, body.timestamp], ['BTC/USD', '60000', world.nowMs])
    assert.deepEqual([body.bids.length, body.asks.length], [20, 20])
    assert.deepEqual([body.bids[0]?.price, body.asks[0]?.price], ['59988', '60012'], 'the spread')
    assert.deepEqual([body.bids[1]?.price, body.asks[1]?.price], ['59982', '60018'], 'the spread and one band')
    for (const levels of [1, 7, 30]) {
      const asked = (await getBook(`?levels=${levels}`)).body
      assert.deepEqual([asked.bids.length, asked.asks.length], [levels, levels])
    }
    assert.equal((await getBook('?levels=30')).body.asks.at(-1).cumulativeUsd, '3000')
  })

  it('gives a market without depth one level on each side, and a closed one none', async () => {
    const { status, body } = await getBook('', 'EUR%2FUSD')
    assert.deepEqual([status, body.bids, body.asks], [200, [], []])
    assert.equal(body.timestamp, world.nowMs - 3_600_000)
    world.open.add(21)
    const { bids, asks } = (await getBook('', 'EUR%2FUSD')).body
    assert.deepEqual(
      [...bids, ...asks].map(({ price }) => price),
      ['1.159768', '1.160232'],
    )
  })

  it('has a book as long as it has a price', async () => {
    const cases: [change: () => void, reason: string][] = [
      [() => (world.chain = undefined), 'starting'],
      [() => (world.hasSnapshot = false), 'starting'],
      [() => (world.nowMs += 5_001), 'feed_stale'],
      [() => (world.isLagging = true), 'chain_lagging'],
    ]
    for (const [change, reason] of cases) {
      const ready = { ...world }
      change()
      const { status, body } = await getBook()
      assert.deepEqual([status, body.code, ownDetails(body.details)], [503, 'NOT_READY', { reason }])
      Object.assign(world, ready)
    }
  })

  it('gives the last 100 trades, newest first, or as many as asked for', async () => {
    const { status, body } = await getTrades()
    assert.deepEqual([status, body.data.length], [200, 100])
    for (const trade of body.data) assert.ok(Value.Check(RecentTradeSchema, trade))
    assert.deepEqual(body.data[0], {
      market: 'BTC/USD',
      price: '60000',
      sizeUsd: '6000',
      side: 'long',
      action: 'TradeOpenedMarket',
      timestamp: 1_000 + TRADES,
      txHash: HASH,
    })
    assert.equal((await getTrades('?limit=1')).body.data.length, 1)
    assert.equal((await getTrades('?limit=500')).body.data.length, TRADES)
    assert.deepEqual((await getTrades('', 'EUR-USD')).body, { data: [] })
    assert.deepEqual((await getTrades('', 'BTC-USD', 'arbitrum')).body, { data: [] })
  })

  it('goes on telling trades while the feed and the chain are silent', async () => {
    world.isLagging = true
    world.hasSnapshot = false
    world.nowMs += 3_600_000
    assert.equal((await getTrades()).status, 200)
    world.chain = undefined
    const { status, body } = await getTrades()
    assert.deepEqual([status, ownDetails(body.details)], [503, { reason: 'starting' }])
  })

  it('says so when the store can not be read', async () => {
    isStoreAway = true
    assert.deepEqual((await getTrades()).body.code, 'NOT_READY')
  })

  it('refuses any other query by name', async () => {
    const bad = ['0', '31', '501', '-1', '', '1.5', 'all', '1&levels=2', '01', '1e1', '%00']
    for (const value of bad) {
      const { status, body } = await getBook(`?levels=${value}`)
      assert.deepEqual([status, body.code], [400, 'VALIDATION_ERROR'], value)
      assert.equal(body.details.issues[0].path, 'query.levels')
    }
    for (const value of ['0', '501', '-1', '', '1&limit=2']) {
      const { body } = await getTrades(`?limit=${value}`)
      assert.deepEqual([body.code, body.details.issues[0].path], ['VALIDATION_ERROR', 'query.limit'], value)
    }
    assert.deepEqual(
      (await getBook('?depth=5&levels=0')).body.details.issues.map(({ path }: { path: string }) => path),
      ['query.depth', 'query.levels'],
    )
    assert.equal((await getTrades('?levels=5')).body.details.issues[0].path, 'query.levels')
    assert.equal((await getBook('?__proto__=5')).status, 400)
  })

  it('knows no other chain and no other market', async () => {
    for (const symbol of ['FOO-USD', 'btc-usd', 'BTC', 'BTC%00USD', '__proto__']) {
      assert.deepEqual((await getBook('', symbol)).body.code, 'MARKET_NOT_FOUND')
      assert.deepEqual((await getTrades('', symbol)).body.code, 'MARKET_NOT_FOUND')
    }
    assert.equal((await getTrades('', 'BTC-USD', 'polygon')).body.code, 'CHAIN_NOT_FOUND')
    assert.equal((await get('getOrderBook', '/v1/polygon/markets/BTC-USD/book')).body.code, 'CHAIN_NOT_FOUND')
  })
})
