import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type Candle, type RecentTrade } from '@bezel/protocol'
import { usd } from '../../market/testing/fixtures.ts'
import { until } from '@bezel/testkit/until.ts'
import { expectSilence, nextData, subscribe, type StreamClient, type Told } from '../testing/streamClient.ts'
import { startStreamWorld, type StreamWorld } from '../testing/streamWorld.ts'

let world: StreamWorld
let client: StreamClient
beforeEach(async () => {
  world = await startStreamWorld()
  client = await world.connect()
  await client.next()
})
afterEach(() => world.close())

describe('book', () => {
  const book = { channel: 'book', market: 'BTC/USD' }
  const priceOf = ({ data }: Told): unknown => (data as { markPrice: string }).markPrice

  it('is whole at every change of the mark, with a sequence for each market', async () => {
    const snapshot = await subscribe(client, book)
    deepEqual([snapshot.seq, priceOf(snapshot)], [0, '60000'])
    await subscribe(client, { channel: 'book', market: 'EUR/USD' })
    world.sources.tick({ 0: 60_010 })
    const delta = await nextData(client)
    deepEqual([delta.market, delta.snapshot, delta.seq, priceOf(delta)], ['BTC/USD', false, 1, '60010'])
    world.sources.tick({ 0: 60_010 })
    await expectSilence(client)
    world.sources.tick({ 21: 1.2 })
    deepEqual((await nextData(client)).seq, 1)
  })

  it('is told when the bands change, at the next tick of any market', async () => {
    await subscribe(client, book)
    const { world: market } = world.sources
    const chain = market.chain!
    const btc = chain.markets.get('BTC/USD' as never)!
    const depthAbove = { totalDepthUsd: 1_000n, sharesBps: [5_000n, 10_000n], offsetsPpm: [100n, 300n] }
    const deeper = { ...btc, listing: { ...btc.listing, depthAbove } }
    market.chain = { ...chain, markets: new Map([...chain.markets, [btc.symbol, deeper]]) }
    market.version += 1
    world.sources.tick({ 21: 1.3 })
    equal((await nextData(client)).seq, 1)
  })

  it('shows what was told with its number, so that no reader keeps a book that comes and goes untold', async () => {
    await subscribe(client, book)
    const quote = world.sources.world.quotes.get(0)!
    world.sources.world.quotes.set(0, { ...quote, mark: usd(60_010) })
    const late = await world.connect()
    await late.next()
    deepEqual(priceOf(await subscribe(late, book)), '60000')
    world.sources.tick({ 0: 60_010 })
    for (const reader of [client, late]) deepEqual([(await nextData(reader)).seq], [1])
  })

  it('says nothing while its market is stale, and goes on after it', async () => {
    await subscribe(client, book)
    world.sources.world.isLagging = true
    world.sources.tick({ 0: 60_010 })
    await expectSilence(client)
    world.sources.world.isLagging = false
    world.sources.tick({ 0: 60_011 })
    equal((await nextData(client)).seq, 1)
  })
})

describe('trades', () => {
  const trade = (price: number, market = 'BTC/USD'): RecentTrade => ({
    market,
    price: String(price),
    sizeUsd: '100',
    side: 'long',
    action: 'TradeOpenedMarket',
    timestamp: price,
    txHash: `0x${price}`,
  })
  const tell = (...trades: RecentTrade[]): void =>
    world.sources.tellTrades(trades.map((told) => ({ pairIndex: 0, trade: told })))
  const pricesOf = ({ data }: Told): unknown[] => (data as RecentTrade[]).map(({ price }) => price)

  it('are newest first, in the snapshot and in a message', async () => {
    world.sources.stored = [trade(2), trade(1)]
    deepEqual(pricesOf(await subscribe(client, { channel: 'trades', market: 'BTC/USD' })), ['2', '1'])
    tell(trade(3), trade(4), trade(9, 'EUR/USD'))
    const delta = await nextData(client)
    deepEqual([delta.snapshot, pricesOf(delta)], [false, ['4', '3']])
    const late = await world.connect()
    await late.next()
    deepEqual(pricesOf(await subscribe(late, { channel: 'trades', market: 'BTC/USD' })), ['4', '3', '2', '1'])
  })

  it('are neither missed nor doubled when they come while the list is read', async () => {
    let found: ((trades: readonly RecentTrade[]) => void) | undefined
    world.sources.trades.list = () => new Promise((resolve) => (found = resolve))
    client.say({ op: 'subscribe', channel: 'trades', market: 'BTC/USD' })
    const go = await until('it is read', () => found)
    // Trade 2 is part of what was read and is announced late; trade 3 came after the read.
    tell(trade(2))
    tell(trade(3))
    go([trade(2), trade(1)])
    equal((await client.next()).op, 'subscribed')
    deepEqual(pricesOf(await nextData(client)), ['3', '2', '1'])
    tell(trade(2))
    await expectSilence(client)
  })

  it('are told anew when a reorganisation took some back', async () => {
    world.sources.stored = [trade(2), trade(1)]
    await subscribe(client, { channel: 'trades', market: 'BTC/USD' })
    world.sources.stored = [trade(1)]
    world.sources.tellTakenBack()
    // The trade is mined again, in a block with another time, while the list is read.
    tell({ ...trade(2), timestamp: 7 })
    const again = await nextData(client)
    deepEqual([again.snapshot, pricesOf(again)], [true, ['2', '1']])
    tell(trade(3))
    deepEqual(pricesOf(await nextData(client)), ['3'])
    const late = await world.connect()
    await late.next()
    deepEqual(pricesOf(await subscribe(late, { channel: 'trades', market: 'BTC/USD' })), ['3', '2', '1'])
  })

  it('are read once for who comes and goes, and anew after a reorganisation', async () => {
    const message = { channel: 'trades', market: 'BTC/USD' }
    const { list } = world.sources.trades
    let reads = 0
    world.sources.trades.list = (...of) => ((reads += 1), list(...of))
    world.sources.stored = [trade(2), trade(1)]
    for (let times = 0; times < 5; times += 1) {
      await subscribe(client, message)
      await client.ask({ op: 'unsubscribe', ...message })
    }
    equal(reads, 1)
    tell(trade(3))
    deepEqual(pricesOf(await subscribe(client, message)), ['3', '2', '1'])
    await client.ask({ op: 'unsubscribe', ...message })
    world.sources.tellTakenBack()
    equal(reads, 1)
    deepEqual(pricesOf(await subscribe(client, message)), ['2', '1'])
  })

  it('are read again when the store was away as a reorganisation took some back', async () => {
    world.sources.stored = [trade(2), trade(1)]
    await subscribe(client, { channel: 'trades', market: 'BTC/USD' })
    const { list } = world.sources.trades
    world.sources.trades.list = async (...of) => {
      world.sources.trades.list = list
      await list(...of)
      throw new Error('away')
    }
    world.sources.stored = [trade(1)]
    world.sources.tellTakenBack()
    deepEqual(pricesOf(await nextData(client)), ['1'])
  })

  it('keep no more than a hundred', async () => {
    world.sources.stored = Array.from({ length: 100 }, (_, at) => trade(200 - at))
    await subscribe(client, { channel: 'trades', market: 'BTC/USD' })
    tell(trade(201))
    await nextData(client)
    const late = await world.connect()
    await late.next()
    const prices = pricesOf(await subscribe(late, { channel: 'trades', market: 'BTC/USD' }))
    deepEqual([prices.length, prices[0], prices.at(-1)], [100, '201', '102'])
  })
})

describe('candles', () => {
  const MINUTE = 60_000
  const candle = (minute: number, close: string): Candle => ({
    time: minute * MINUTE,
    open: '1',
    high: '9',
    low: '1',
    close,
  })
  const chart = { channel: 'candles', market: 'BTC/USD', interval: '1m' }
  const closesOf = ({ data }: Told): unknown[] => (data as Candle[]).map(({ time, close }) => [time / MINUTE, close])

  it('start with the last ones and go on with the current one', async () => {
    world.sources.candlesOf = [candle(1, '2'), candle(2, '3')]
    deepEqual(closesOf(await subscribe(client, chart)), [
      [1, '2'],
      [2, '3'],
    ])
    world.sources.tellCandles([0])
    await expectSilence(client)
    world.sources.candlesOf = [candle(1, '2'), candle(2, '4')]
    world.sources.tellCandles([21])
    await expectSilence(client)
    world.sources.tellCandles([0, 21])
    const delta = await nextData(client)
    deepEqual([delta.snapshot, closesOf(delta)], [false, [[2, '4']]])
    world.sources.candlesOf = [candle(3, '5')]
    world.sources.tellCandles([0])
    deepEqual(closesOf(await nextData(client)), [[3, '5']])
    const late = await world.connect()
    await late.next()
    deepEqual(closesOf(await subscribe(late, chart)), [
      [1, '2'],
      [2, '4'],
      [3, '5'],
    ])
  })

  it('carry the close over intervals in which nothing ticked', async () => {
    world.sources.candlesOf = [candle(1, '2')]
    await subscribe(client, chart)
    world.sources.candlesOf = [candle(4, '7')]
    world.sources.tellCandles([0])
    deepEqual(closesOf(await nextData(client)), [
      [2, '2'],
      [3, '2'],
      [4, '7'],
    ])
  })

  it('tell how a candle ended also when there was no time to look', async () => {
    world.sources.candlesOf = [candle(1, '2')]
    await subscribe(client, chart)
    await subscribe(client, { ...chart, interval: '5m' })
    const { current } = world.sources.candles
    world.sources.candles.current = (...of) => {
      for (const startMs = performance.now(); performance.now() - startMs < 2;) continue
      return current(...of)
    }
    world.sources.candlesOf = [candle(1, '3')]
    world.sources.tellCandles([0])
    // The second chart has to wait now, and misses the changes in between.
    world.sources.candlesOf = [candle(1, '4')]
    world.sources.tellCandles([0])
    world.sources.candlesOf = [candle(1, '4'), candle(2, '5')]
    world.sources.tellCandles([0])
    const closes: unknown[] = []
    while (closes.length < 2) {
      const told = await nextData(client)
      if (told.interval === '5m') closes.push(...closesOf(told))
    }
    deepEqual(closes, [
      [2, '5'],
      [1, '4'],
    ])
  })

  it('are apart by interval, and can be empty', async () => {
    deepEqual(closesOf(await subscribe(client, chart)), [])
    deepEqual(closesOf(await subscribe(client, { ...chart, interval: '1d' })), [])
    world.sources.candlesOf = [candle(0, '2')]
    world.sources.tellCandles([0])
    deepEqual([(await nextData(client)).interval, (await nextData(client)).interval], ['1m', '1d'])
  })
})
