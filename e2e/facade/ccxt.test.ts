import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import ccxt from 'ccxt'
import type { FillHistoryEntry } from '@bezel/protocol'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { approveByCcxt, ccxtOf, SYMBOL } from './ccxtClient.ts'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'
import { LONG_HOLD, patient, TIMEOUT_MS } from './patience.ts'
import { until } from '@bezel/testkit/until.ts'

const CLOID = `0x${'c0'.repeat(16)}`

/** One trader's day with ccxt from the package registry. Each story continues where the last one ended. */
describe('ccxt', () => {
  let world: FacadeWorld
  let exchange: ReturnType<typeof ccxtOf>
  /** The same trader through the native interface, as its own agent. */
  let native: TradingClient

  before(async () => {
    world = await startFacadeWorld(LONG_HOLD)
    exchange = patient(ccxtOf(world, 'trader-1', 'agent-1'))
    exchange.timeout = TIMEOUT_MS
    native = await world.clientOf('trader-1', 'trader-1')
  })
  after(() => world?.stop())

  const place = async (...order: Parameters<typeof exchange.createOrder>) => {
    const placed = await exchange.createOrder(...order)
    return { ...placed, id: placed.id! }
  }
  const position = async () => (await exchange.fetchPositions([SYMBOL]))[0]
  const openIds = async () => (await exchange.fetchOpenOrders(SYMBOL)).map(({ id }) => id).toSorted()
  const isClosed = async () => (await position()) === undefined
  const lastTrade = async () => (await exchange.fetchMyTrades(SYMBOL)).at(-1)!
  const refusalOf = async (work: Promise<unknown>): Promise<Error> => {
    const error = await work.then(
      () => assert.fail('it was done'),
      (thrown: unknown) => thrown,
    )
    assert.ok(error instanceof ccxt.BaseError, String(error))
    return error
  }

  it('loads the markets', async () => {
    const markets = await exchange.loadMarkets()
    const { precision, limits, active, swap, linear } = markets[SYMBOL]!
    assert.deepEqual([precision.amount, limits.leverage?.max, active, swap, linear], [0.00001, 200, true, true, true])
    assert.ok(Object.values(markets).some((market) => market?.active === false))
    assert.equal((await exchange.fetchStatus()).status, 'ok')
    const startMs = Date.now()
    const timeMs = (await exchange.fetchTime())!
    assert.ok(timeMs >= startMs && timeMs <= Date.now(), `${timeMs} is not the time`)
  })

  it('reads prices, book, candles and funding', async () => {
    const { last, bid, ask } = await exchange.fetchTicker(SYMBOL)
    assert.equal(last, 60_000)
    assert.ok(bid! < 60_000 && ask! > 60_000)
    assert.ok(Object.keys(await exchange.fetchTickers()).length > 5)
    const { bids, asks } = await exchange.fetchOrderBook(SYMBOL)
    assert.ok(bids.length > 1 && bids[0]![0]! > bids[1]![0]! && bids[0]![0]! < asks[0]![0]!)
    for (const timeframe of ['1m', '4h', '1d', '1w']) {
      const candles = await exchange.fetchOHLCV(SYMBOL, timeframe, undefined, 3)
      assert.ok(candles.length > 0 && candles.at(-1)![4] === 60_000, timeframe)
    }
    assert.ok(Number.isFinite((await exchange.fetchFundingRate(SYMBOL)).fundingRate))
    assert.ok((await exchange.fetchOpenInterest(SYMBOL)).openInterestAmount! >= 0)
  })

  it('is told who it is not, until its agent is approved, and what to send, until the relayer is the delegate', async () => {
    const agent = world.chain.account('agent-1').address.toLowerCase()
    const unknown = await refusalOf(exchange.createOrder(SYMBOL, 'market', 'buy', 0.05, 60_000))
    assert.ok(unknown instanceof ccxt.InvalidOrder)
    assert.match(unknown.message, /User or API Wallet 0x[0-9a-f]{40} does not exist\./)
    assert.ok(unknown.message.includes(agent), 'by which a mistake in signing is told from an agent that is not there')

    const { status, delegationTx } = await approveByCcxt(world, 'trader-1', 'agent-1')
    assert.equal(status, 'ok')
    const early = await refusalOf(exchange.setLeverage(10, SYMBOL))
    assert.match(early.message, /L1 error: API Wallet 0x\w{40} is not yet the on-chain delegate of its user/)
    await world.delegate('trader-1', delegationTx)
    await until('the delegation is seen', () => exchange.setLeverage(10, SYMBOL).catch(() => undefined))
    assert.equal((await approveByCcxt(world, 'trader-1', 'agent-1')).delegationTx, null)
  })

  it('fills a market order, which is the same order natively', async () => {
    await exchange.setMarginMode('isolated', SYMBOL, { leverage: 10 })
    const order = await place(SYMBOL, 'market', 'buy', 0.05, 60_000)
    assert.equal(order.remaining, 0)
    assert.ok(Math.abs(order.filled! - 0.05) < 0.0001 && order.average! > 60_000)
    const { status, size, fill } = await native.order(order.id)
    assert.deepEqual([status, size], ['filled', '0.05'])
    assert.ok(Math.abs(Number(fill!.size) - order.filled!) < 0.00001)
    const { status: seen, side, type } = await exchange.fetchOrder(order.id, SYMBOL)
    assert.deepEqual([seen, side, type], ['closed', 'buy', 'market'])
    const trade = await lastTrade()
    assert.deepEqual(
      [trade.order, trade.amount, trade.price, trade.side],
      [order.id, order.filled, order.average, 'buy'],
    )
    const { body: log } = await native.account('/events?after=0&limit=500', 'listEvents')
    const told = log.data.filter((event: { data: { id: string } }) => event.data.id === order.id)
    assert.equal(told.at(-1).data.status, 'filled')
  })

  it('reads position and balance, and adds margin', async () => {
    const held = (await position())!
    assert.deepEqual([held.side, held.marginMode, held.leverage], ['long', 'isolated', 10])
    assert.equal(held.contracts, (await lastTrade()).amount)
    assert.ok(held.liquidationPrice! > 50_000 && held.liquidationPrice! < 60_000)
    assert.ok(Math.abs(held.initialMargin! - 300) < 1)
    const { USDC } = await exchange.fetchBalance()
    assert.ok(Math.abs(USDC!.total! - USDC!.free! - USDC!.used!) < 0.01)
    assert.ok(Math.abs(USDC!.used! - 300) < 5)
    await exchange.addMargin(SYMBOL, 10)
    await until('the margin is there', async () => (await position())!.initialMargin! > 305)
  })

  it('protects the position, changes the stop, and is closed by it', async () => {
    const { contracts } = (await position())!
    const stop = await place(SYMBOL, 'market', 'sell', contracts!, 60_000, {
      stopLossPrice: 57_000,
      reduceOnly: true,
    })
    const profit = await place(SYMBOL, 'market', 'sell', contracts!, 60_000, {
      takeProfitPrice: 70_000,
      reduceOnly: true,
    })
    assert.deepEqual(await openIds(), [stop.id, profit.id].toSorted())
    await exchange.editOrder(stop.id, SYMBOL, 'market', 'sell', contracts, 60_000, {
      stopLossPrice: 58_000,
      reduceOnly: true,
    })
    const { stopLossPrice, reduceOnly } = await exchange.fetchOrder(stop.id, SYMBOL)
    assert.deepEqual([stopLossPrice, reduceOnly], [58_000, true])
    await exchange.cancelOrder(profit.id, SYMBOL)
    assert.deepEqual(await openIds(), [stop.id])

    await world.moveTo(57_900)
    await until('the stop closes the position', isClosed)
    const trade = await lastTrade()
    assert.deepEqual([trade.order, trade.side, trade.amount], [stop.id, 'sell', contracts])
    assert.equal((await exchange.fetchOrder(stop.id, SYMBOL)).status, 'closed')
    assert.deepEqual(await openIds(), [])
  })

  it('opens with a stop and a take profit, which closes the position', async () => {
    await world.moveTo(60_000)
    const order = await place(SYMBOL, 'market', 'buy', 0.05, 60_000, {
      stopLoss: { triggerPrice: 55_000 },
      takeProfit: { triggerPrice: 61_000 },
    })
    assert.ok(order.filled! > 0)
    const [stop, profit] = (await exchange.fetchOpenOrders(SYMBOL)).toSorted(
      (a, b) => a.triggerPrice! - b.triggerPrice!,
    )
    assert.deepEqual([stop!.triggerPrice, profit!.triggerPrice], [55_000, 61_000])
    await world.moveTo(61_100)
    await until('the take profit closes the position', isClosed)
    assert.deepEqual([(await lastTrade()).order, (await lastTrade()).side], [profit!.id, 'sell'])
    assert.equal((await exchange.fetchOrder(stop!.id!, SYMBOL)).status, 'canceled')
  })

  it('places, edits and cancels limit orders, by either id', async () => {
    await world.moveTo(60_000)
    const order = await place(SYMBOL, 'limit', 'buy', 0.05, 50_000, { clientOrderId: CLOID })
    const shown = (await exchange.fetchOpenOrders(SYMBOL))[0]!
    assert.deepEqual([shown.id, shown.clientOrderId, shown.price, shown.amount], [order.id, CLOID, 50_000, 0.05])
    const edited = await exchange.editOrder(order.id, SYMBOL, 'limit', 'buy', 0.06, 51_000)
    assert.equal(edited.id, order.id)
    const { price, amount } = await exchange.fetchOrder(order.id, SYMBOL)
    assert.deepEqual([price, amount], [51_000, 0.06])
    assert.equal((await native.order(order.id)).price, '51000')
    await exchange.cancelOrder(order.id, SYMBOL, { clientOrderId: CLOID })
    assert.equal((await exchange.fetchOrder(order.id, SYMBOL)).status, 'canceled')
    const again = await refusalOf(exchange.cancelOrder(order.id, SYMBOL))
    assert.ok(again instanceof ccxt.OrderNotFound)

    const requests = [49_000, 48_000].map((limit) => ({
      symbol: SYMBOL,
      type: 'limit' as const,
      side: 'buy' as const,
      amount: 0.05,
      price: limit,
    }))
    const both = (await exchange.createOrders(requests)).map(({ id }) => id!)
    await exchange.cancelOrders(both, SYMBOL)
    assert.deepEqual(await openIds(), [])
    const canceled = (await exchange.fetchCanceledOrders(SYMBOL)).map(({ id }) => id)
    assert.ok([order.id, ...both].every((id) => canceled.includes(id)))
    assert.equal((await exchange.cancelAllOrdersAfter(600_000)).status, 'ok')
  })

  it('sees what was placed natively, and cancels it', async () => {
    const terms = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.05', leverage: '10', price: '50000' }
    const { id } = await native.trade(terms, 'open')
    assert.deepEqual(await openIds(), [id])
    await exchange.cancelOrder(id, SYMBOL)
    await native.orderOnce(id, ({ status }) => status === 'canceled')
  })

  it('goes short, reduces, and closes with the size it is told', async () => {
    await place(SYMBOL, 'market', 'sell', 0.05, 60_000)
    await place(SYMBOL, 'market', 'buy', 0.02, 60_000, { reduceOnly: true })
    const { contracts, side } = (await position())!
    assert.equal(side, 'short')
    assert.ok(Math.abs(contracts! - 0.03) < 0.0005)
    const closing = await place(SYMBOL, 'market', 'buy', contracts!, 60_000, { reduceOnly: true })
    assert.equal(closing.filled, contracts)
    assert.ok(await isClosed())
    const { body } = await native.account('/positions', 'listPositions')
    assert.deepEqual(body.data, [], 'no dust is left')
  })

  it('is refused in the words it knows', async () => {
    const order = (amount: number, price: number, params = {}) =>
      refusalOf(exchange.createOrder(SYMBOL, 'limit', 'buy', amount, price, params))
    const cases = [
      [await order(0.00001, 50_000), ccxt.InvalidOrder, /Order must have minimum value of \$10/],
      [await order(0.05, 1_000), ccxt.InvalidOrder, /Order price cannot be more than 80% away/],
      [
        await order(0.05, 60_500, { postOnly: true }),
        ccxt.InvalidOrder,
        /Post only order would have immediately matched/,
      ],
      [await order(0.05, 60_500, { reduceOnly: true }), ccxt.InvalidOrder, /Reduce only order would increase position/],
      [await order(0.05, 59_000, { timeInForce: 'IOC' }), ccxt.InvalidOrder, /could not immediately match/],
      [await order(400, 59_000), ccxt.InsufficientFunds, /Insufficient margin to place order/],
    ] as const
    for (const [error, kind, text] of cases) {
      assert.match(error.message, text)
      assert.ok(error instanceof kind, error.constructor.name)
    }
  })

  it('adds up trades, funding history and ledger to what the native history says', async () => {
    await place(SYMBOL, 'market', 'buy', 0.05, 60_000)
    await world.chain.control('evm_increaseTime', 36_000)
    await exchange.addMargin(SYMBOL, 20)
    await place(SYMBOL, 'market', 'sell', (await position())!.contracts!, 60_000, { reduceOnly: true })
    const fundings = await exchange.fetchFundingHistory(SYMBOL)
    assert.ok(fundings.at(-1)!.amount! < 0, JSON.stringify(fundings))
    const costs = await exchange.fetchLedger()
    assert.ok(costs.length > 0)
    const units = (amount: number | string): number => Math.round(Number(amount) * 1e6)
    const told = [
      ...(await exchange.fetchMyTrades(SYMBOL)).map(
        ({ info, fee }) => units((info as { closedPnl: string }).closedPnl) - units(fee!.cost!),
      ),
      ...fundings.map(({ amount }) => units(amount!)),
      ...costs.map(({ amount }) => -units(amount!)),
    ]
    const entries: FillHistoryEntry[] = (await native.account('/fills', 'listFills')).body.data
    const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)
    assert.equal(sum(told), sum(entries.map(({ netPnl }) => units(netPnl!))))
  })

  it('never moves funds', async () => {
    const { address } = world.chain.account('trader-2')
    for (const work of [
      exchange.withdraw('USDC', 20, address),
      exchange.transfer('USDC', 20, 'swap', 'spot'),
      exchange.createSubAccount('mine'),
    ]) {
      assert.match((await refusalOf(work)).message, /never moves funds/)
    }
  })
})
