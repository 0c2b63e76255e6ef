import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Order, OrderBook, OHLCV, Position, Ticker, Trade } from 'ccxt'
import { ccxtProOf, connectByCcxt, SYMBOL } from './ccxtClient.ts'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'
import { LONG_HOLD, patiently, TIMEOUT_MS } from './patience.ts'
import { until } from '@bezel/testkit/until.ts'

/** The streams of ccxt from the package registry, and the orders sent over them. */
describe('ccxt pro', () => {
  let world: FacadeWorld
  let exchange: Awaited<ReturnType<typeof ccxtProOf>>
  let orders: Order[]
  let trades: Trade[]

  before(async () => {
    world = await startFacadeWorld(LONG_HOLD)
    await connectByCcxt(world, 'trader-1', 'agent-1')
    exchange = await ccxtProOf(world, 'trader-1', 'agent-1')
    exchange.timeout = TIMEOUT_MS
    await exchange.loadMarkets()
    await until('the delegation is seen', () => exchange.setLeverage(10, SYMBOL).catch(() => undefined))
    orders = collect(() => exchange.watchOrders(SYMBOL))
    trades = collect(() => exchange.watchMyTrades(SYMBOL))
  })
  after(async () => {
    await exchange?.close()
    await world?.stop()
  })

  /** Collects everything that arrives from now on, as a bot that never stops watching. */
  function collect<Told extends object>(watch: () => Promise<readonly Told[]>): Told[] {
    const told: Told[] = []
    const watchOn = async (): Promise<void> => {
      for (;;) told.push(...(await watch()).map((one) => structuredClone(one)))
    }
    // The loop ends when the exchange is closed.
    watchOn().catch(() => undefined)
    return told
  }

  const one = <Told extends object>(watch: () => Promise<Told>): Told[] => collect(async () => [await watch()])

  it('watches prices, book, candles and trades', async () => {
    const tickers: Ticker[] = one(() => exchange.watchTicker(SYMBOL))
    const books: OrderBook[] = one(async () => ({ ...(await exchange.watchOrderBook(SYMBOL)) }) as OrderBook)
    const candles: OHLCV[] = collect(() => exchange.watchOHLCV(SYMBOL, '1m'))
    assert.equal((await exchange.watchTickers([SYMBOL]))[SYMBOL]?.last, 60_000)
    await until('all are told at once', () => tickers.length * books.length * candles.length > 0)
    assert.deepEqual([tickers[0]!.last, candles[0]![4]], [60_000, 60_000])
    const { bids, asks } = books[0]!
    assert.ok(bids.length > 1 && bids[0]![0]! < asks[0]![0]!)

    await world.setPrice(60_100)
    await until('the ticker moves', () => tickers.at(-1)!.last === 60_100)
    await until('the candle moves', () => candles.at(-1)![4] === 60_100)
    await until('the book moves', () => {
      const { bids: below, asks: above } = books.at(-1)!
      return Math.abs((below[0]![0]! + above[0]![0]!) / 2 - 60_100) < 5
    })
    assert.equal(await exchange.unWatchTicker(SYMBOL), true)
    await world.moveTo(60_000)
  })

  it('watches its orders, trades, positions and balance while an order is filled', async () => {
    const tape: Trade[] = collect(() => exchange.watchTrades(SYMBOL))
    const positions: Position[] = collect(() => exchange.watchPositions([SYMBOL]))
    const balances = one(() => exchange.watchBalance())
    await until('the balance is told', () => balances[0]?.USDC?.used === 0)
    const placed = await patiently(() => exchange.createOrderWs(SYMBOL, 'market', 'buy', 0.05, 60_000))
    assert.ok(placed.filled! > 0)
    const fill = await until('the fill is told', () => trades.find(({ order }) => order === placed.id))
    assert.deepEqual([fill.amount, fill.price, fill.side], [placed.filled, placed.average, 'buy'])
    await until('the order is told', () => orders.find(({ id, status }) => id === placed.id && status === 'closed'))
    await until('the trade is told to everybody', () => tape.find(({ id }) => id === fill.id))
    const held = await until('the position is told', () => positions.find(({ contracts }) => contracts === fill.amount))
    assert.equal(held.side, 'long')
    await until('the margin is told', () => balances.at(-1)!.USDC!.used! > 200)
  })

  it('places, edits and cancels over the socket', async () => {
    const placed = await patiently(() => exchange.createOrderWs(SYMBOL, 'limit', 'buy', 0.05, 50_000))
    const told = (status: string, price: number) =>
      until(`the order is ${status} at ${price}`, () =>
        orders.find((order) => order.id === placed.id && order.status === status && order.price === price),
      )
    await told('open', 50_000)
    const edited = await patiently(() => exchange.editOrderWs(placed.id!, SYMBOL, 'limit', 'buy', 0.05, 51_000))
    assert.equal(edited.id, placed.id)
    await told('open', 51_000)
    await patiently(() => exchange.cancelOrderWs(placed.id!, SYMBOL))
    await told('canceled', 51_000)
  })

  it('hears of the stop that closes its position', async () => {
    const [held] = await exchange.fetchPositions([SYMBOL])
    const terms = { stopLossPrice: 58_000, reduceOnly: true }
    const stop = await patiently(() =>
      exchange.createOrderWs(SYMBOL, 'market', 'sell', held!.contracts!, 60_000, terms),
    )
    await until('the stop is told', () => orders.find(({ id, status }) => id === stop.id && status === 'open'))
    await world.setPrice(57_900)
    const fill = await until('its fill is told', () => trades.find(({ order }) => order === stop.id))
    assert.deepEqual([fill.side, fill.amount], ['sell', held!.contracts])
    await until('its end is told', () => orders.find(({ id, status }) => id === stop.id && status === 'closed'))
    assert.deepEqual(await exchange.fetchPositions([SYMBOL]), [])
  })

  it('is refused over the socket in the same words', async () => {
    await assert.rejects(
      patiently(() => exchange.createOrderWs(SYMBOL, 'limit', 'buy', 0.05, 1_000)),
      /Order price cannot be more than 80% away from the reference price/,
    )
  })
})
