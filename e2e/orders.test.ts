import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { diamondAbi, type Order } from '@bezel/protocol'
import { zeroAddress, type Hex } from 'viem'
import { tradeOf } from '@bezel/testkit/chainClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'

const MARKET = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const LIMIT = { ...MARKET, type: 'limit', price: '59000' }
const STOP = { ...MARKET, type: 'stop', price: '61000' }

describe('orders, as an agent sees them', () => {
  let world: TradingWorld
  let client: TradingClient

  before(async () => {
    world = await startTradingWorld()
    client = await world.clientOf('trader-1', 'agent-1')
  })
  after(() => world?.stop())

  const positions = async () => (await client.account('/positions', 'listPositions')).body.data
  const openOrders = async (): Promise<Order[]> => (await client.account('/orders', 'listOpenOrders')).body.data
  const history = async (): Promise<Order[]> => (await client.account('/orders/history', 'listOrderHistory')).body.data

  async function closeAll(): Promise<void> {
    for (const position of await positions()) {
      const { body } = await client.request('closePosition', 'POST', `/positions/${position.id}/close`, {})
      await client.broadcast(body.transaction)
      await client.orderOnce(body.order.id, ({ status }) => status === 'filled')
    }
  }

  async function untilPositions(count: number): Promise<void> {
    await until(`${count} positions`, async () => (await positions()).length === count)
  }

  it('rests a limit, moves its price and size, and fills it when the price comes', async () => {
    const placed = await client.trade({ ...LIMIT, sl: '55000', tp: '70000' }, 'open')
    assert.deepEqual([placed.price, placed.sl, placed.tp], ['59000', '55000', '70000'])
    assert.deepEqual(
      (await openOrders()).map(({ id }) => id),
      [placed.id],
    )

    const moved = await client.request('updateOrder', 'PATCH', `/orders/${placed.id}`, { price: '58500', tp: '0' })
    assert.equal(moved.status, 200, JSON.stringify(moved.body))
    assert.deepEqual([moved.body.order.price, moved.body.order.tp, moved.body.order.sl], ['58500', null, '55000'])
    assert.equal((await client.order(placed.id)).price, '59000', 'nothing is in force before it is mined')
    await client.broadcast(moved.body.transaction)
    const inForce = await client.orderOnce(placed.id, ({ price }) => price === '58500')
    assert.deepEqual([inForce.status, inForce.tp, inForce.sl], ['open', null, '55000'])

    const resized = await client.request('updateOrder', 'PATCH', `/orders/${placed.id}`, { size: '0.03' })
    assert.equal(resized.status, 200, JSON.stringify(resized.body))
    await client.broadcast(resized.body.transaction)
    const larger = await client.orderOnce(placed.id, ({ size }) => size === '0.03')
    assert.deepEqual([larger.status, larger.price], ['open', '58500'])

    await world.setPrice(58_400)
    const filled = await client.orderOnce(placed.id, ({ status }) => status === 'filled')
    assert.ok(Math.abs(Number(filled.fill!.size) - 0.03) < 0.0002)
    const [position] = await positions()
    assert.equal(position.id, filled.fill!.positionId)
    assert.equal(position.sl, '55000')
    await world.setPrice(60_000)
    await closeAll()
  })

  it('fills a stop when the price rises to it', async () => {
    const placed = await client.trade(STOP, 'open')
    await world.setPrice(61_100)
    await client.orderOnce(placed.id, ({ status }) => status === 'filled')
    await world.setPrice(60_000)
    await closeAll()
  })

  it('cancels a resting order, and a prepared one at once', async () => {
    const placed = await client.trade(LIMIT, 'open')
    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${placed.id}`)
    assert.equal(cancel.status, 200, JSON.stringify(cancel.body))
    await client.broadcast(cancel.body.transaction)
    await client.orderOnce(placed.id, ({ status }) => status === 'canceled')
    const again = await client.request('cancelOrder', 'DELETE', `/orders/${placed.id}`)
    assert.deepEqual([again.status, again.body.code], [409, 'ORDER_NOT_MODIFIABLE'])

    const { order } = await client.prepare(LIMIT)
    assert.deepEqual(
      (await openOrders()).map(({ id }) => id),
      [order.id],
    )
    const withdrawn = await client.request('cancelOrder', 'DELETE', `/orders/${order.id}`)
    assert.equal(withdrawn.body.order.status, 'expired')
    assert.equal(withdrawn.body.transaction, null)
    assert.deepEqual(await openOrders(), [])
  })

  it('tells take profit, stop loss and liquidation as orders of their own', async () => {
    await client.trade({ ...MARKET, tp: '61000' }, 'filled')
    await client.trade({ ...MARKET, sl: '59500' }, 'filled')
    await client.trade({ ...MARKET, leverage: '50' }, 'filled')
    const opened = await positions()
    assert.equal(opened.length, 3)
    await world.setPrice(61_100)
    await untilPositions(2)
    await world.setPrice(59_400)
    await untilPositions(1)
    await world.setPrice(58_000)
    await untilPositions(0)
    await world.setPrice(60_000)
    const fills = (await client.account('/fills?limit=3', 'listFills')).body.data
    assert.deepEqual(
      fills.map(({ action, positionId }: Record<string, string>) => [action, positionId]),
      [
        ['TradeClosedLIQ', opened[2].id],
        ['TradeClosedSL', opened[1].id],
        ['TradeClosedTP', opened[0].id],
      ],
    )
    const [liquidation, stop, take] = await history()
    assert.deepEqual(
      [liquidation, stop, take].map((order) => order?.type),
      ['stop', 'stop', 'limit'],
    )
    for (const order of [liquidation, stop, take]) {
      assert.deepEqual(
        [order?.status, order?.reduceOnly, order?.side, order?.clientId],
        ['filled', true, 'short', null],
      )
    }
  })

  it('rejects what slipped too far, with its reason', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const { order, transaction } = await client.prepare({ ...MARKET, slippage: '0.1' })
    await client.broadcast(transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'pending')
    await world.setPrice(60_500)
    await world.chain.control('bezel_pauseOracle', false)
    const rejected = await client.orderOnce(order.id, ({ status }) => status === 'rejected')
    assert.equal(rejected.reason, 'SLIPPAGE')
    assert.equal(rejected.fill, null)
    await world.setPrice(60_000)
  })

  it('gives the collateral back when the oracles stay silent', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const { order, transaction } = await client.prepare(MARKET)
    await client.broadcast(transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'pending')
    const early = await client.request('cancelOrder', 'DELETE', `/orders/${order.id}`)
    assert.deepEqual([early.status, early.body.code], [409, 'ORDER_NOT_MODIFIABLE'])
    const edit = await client.request('updateOrder', 'PATCH', `/orders/${order.id}`, { price: '1000' })
    assert.deepEqual([edit.status, edit.body.code], [409, 'ORDER_NOT_MODIFIABLE'])
    await world.chain.control('hardhat_mine', 200)
    await client.orderOnce(order.id, ({ status }) => status === 'timed_out')
    const reclaim = await client.request('cancelOrder', 'DELETE', `/orders/${order.id}`)
    assert.equal(reclaim.status, 200, JSON.stringify(reclaim.body))
    await client.broadcast(reclaim.body.transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'canceled')
    await world.chain.control('bezel_pauseOracle', false)
  })

  it('fills a timed-out request when the oracles answer late', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const { order, transaction } = await client.prepare(MARKET)
    await client.broadcast(transaction)
    await world.chain.control('hardhat_mine', 200)
    await client.orderOnce(order.id, ({ status }) => status === 'timed_out')
    await world.chain.control('bezel_pauseOracle', false)
    await client.orderOnce(order.id, ({ status }) => status === 'filled')
    await closeAll()
  })

  it('knows a transaction that nobody reported', async () => {
    const { order, transaction } = await client.prepare(MARKET)
    const hash = await client.broadcast(transaction)
    const filled = await client.orderOnce(order.id, ({ status }) => status === 'filled')
    assert.equal(filled.txHash, hash)
    await closeAll()
  })

  it('refuses a hash that is not this order, and leaves the order as it was', async () => {
    const other = await client.trade(LIMIT, 'open')
    const { order, transaction } = await client.prepare({ ...MARKET, side: 'short' })
    const wrong = await client.submit(order.id, other.txHash as Hex)
    assert.deepEqual([wrong.status, wrong.body.code], [422, 'SUBMISSION_MISMATCH'])
    assert.deepEqual((await client.order(order.id)).status, 'prepared')
    const malformed = await client.submit(order.id, '0x12')
    assert.deepEqual([malformed.status, malformed.body.code], [400, 'VALIDATION_ERROR'])
    await client.broadcast(transaction)
    await client.orderOnce(order.id, ({ status }) => status === 'filled')
    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${other.id}`)
    await client.broadcast(cancel.body.transaction)
    await client.orderOnce(other.id, ({ status }) => status === 'canceled')
    await closeAll()
  })

  it('shows trades and orders made elsewhere', async () => {
    const { trader } = client
    const trade = tradeOf(world.chain, trader.address, { price: 60_000n })
    await world.chain.send(trader, 'openTrade', [trade, 1000, zeroAddress])
    await untilPositions(1)
    const [order] = await history()
    assert.deepEqual([order?.type, order?.status, order?.side], ['market', 'filled', 'long'])
    assert.equal(order?.fill?.positionId, (await positions())[0].id)
    const resting = tradeOf(world.chain, trader.address, { price: 50_000n, tradeType: 1 })
    await world.chain.send(trader, 'openTrade', [resting, 1000, zeroAddress])
    const found = await client.orderOnce((await untilOpenOrder()).id, ({ status }) => status === 'open')
    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${found.id}`)
    await client.broadcast(cancel.body.transaction)
    await client.orderOnce(found.id, ({ status }) => status === 'canceled')
    await closeAll()
  })

  function untilOpenOrder(): Promise<Order> {
    return until('an open order', async () => (await openOrders())[0])
  }

  it('gives two clients that race with one clientId the same order', async () => {
    const body = { ...LIMIT, clientId: 'race' }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => client.request('createOrder', 'POST', '/orders', body)),
    )
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 200, 200, 200, 201])
    assert.equal(new Set(answers.map(({ body: { order } }) => order.id)).size, 1)
    assert.equal(new Set(answers.map(({ body: { transaction } }) => transaction.data)).size, 1)
    const other = await client.request('createOrder', 'POST', '/orders', { ...body, size: '0.05' })
    assert.deepEqual([other.status, other.body.code], [409, 'IDEMPOTENCY_CONFLICT'])
    const { id } = answers[0]!.body.order
    await client.broadcast(answers[0]!.body.transaction)
    await client.orderOnce(id, ({ status }) => status === 'open')
    const repeat = await client.request('createOrder', 'POST', '/orders', body)
    assert.deepEqual([repeat.status, repeat.body.order.status, repeat.body.transaction], [200, 'open', null])
    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${id}`)
    await client.broadcast(cancel.body.transaction)
    await client.orderOnce(id, ({ status }) => status === 'canceled')
  })

  it('closes a part, and several positions with one reduceOnly order', async () => {
    await client.trade(MARKET, 'filled')
    await client.trade(MARKET, 'filled')
    const [first, second] = await positions()
    const half = await client.request('closePosition', 'POST', `/positions/${first.id}/close`, {
      size: '0.01',
      slippage: '2',
    })
    assert.equal(half.status, 200, JSON.stringify(half.body))
    await client.broadcast(half.body.transaction)
    const reduced = await client.orderOnce(half.body.order.id, ({ status }) => status === 'filled')
    assert.ok(Math.abs(Number(reduced.fill!.size) - 0.01) < 0.0002, reduced.fill!.size)
    const [rest] = await positions()
    assert.ok(Math.abs(Number(rest.size) - 0.01) < 0.0002, rest.size)

    const all = await client.trade({ ...MARKET, side: 'short', size: '1', reduceOnly: true }, 'filled')
    assert.equal(all.reduceOnly, true)
    assert.equal(all.fill!.positionId, first.id)
    assert.ok(Math.abs(Number(all.fill!.size) - (Number(rest.size) + Number(second.size))) < 0.0002, all.fill!.size)
    assert.deepEqual(await positions(), [])
    const none = await client.request('createOrder', 'POST', '/orders', { ...MARKET, side: 'short', reduceOnly: true })
    assert.deepEqual([none.status, none.body.code], [404, 'POSITION_NOT_FOUND'])
  })

  it('changes stops, leverage and collateral of a position', async () => {
    await client.trade(MARKET, 'filled')
    const [position] = await positions()
    const patch = (body: unknown) => client.request('updatePosition', 'PATCH', `/positions/${position.id}`, body)
    const untilPosition = (isExpected: (now: Record<string, string>) => boolean): Promise<boolean> =>
      until('the position as expected', async () => isExpected((await positions())[0]))
    const stops = await patch({ sl: '57000', tp: '66000' })
    assert.equal(stops.status, 200, JSON.stringify(stops.body))
    await client.broadcast(stops.body.transaction)
    await untilPosition(({ sl, tp }) => sl === '57000' && tp === '66000')
    const leverage = await patch({ leverage: '8' })
    assert.equal(leverage.status, 200, JSON.stringify(leverage.body))
    await client.broadcast(leverage.body.transaction)
    await untilPosition((now) => now.leverage === '8')
    const collateral = await patch({ collateral: { action: 'add', amount: '50' } })
    assert.equal(collateral.status, 200, JSON.stringify(collateral.body))
    await client.broadcast(collateral.body.transaction)
    await untilPosition((now) => Number(now.leverage) < 8)
    const mixed = await patch({ sl: '57000', leverage: '9' })
    assert.deepEqual([mixed.status, mixed.body.code], [400, 'VALIDATION_ERROR'])
    await closeAll()
  })

  it('finds what is open by its key, its id, its market, its state and its age, page by page', async () => {
    const key = 'é/?&#=+ 1'
    const other = await world.clientOf('trader-2', 'agent-2')
    const btc = await client.trade({ ...MARKET, clientId: key }, 'filled')
    const eth = await client.trade({ ...MARKET, market: 'ETH/USD', size: '0.5' }, 'filled')
    const resting = await client.trade(LIMIT, 'open')
    const { order: prepared } = await client.prepare(LIMIT)

    const byKey = (from: TradingClient) =>
      from.request('getOrderByClientId', 'GET', `/orders?clientId=${encodeURIComponent(key)}`)
    assert.deepEqual((await byKey(client)).body, await client.order(btc.id))
    assert.deepEqual([(await byKey(other)).status, (await byKey(other)).body.code], [404, 'ORDER_NOT_FOUND'])
    const position = (from: TradingClient) => from.request('getPosition', 'GET', `/positions/${eth.fill!.positionId}`)
    const { body } = await position(client)
    assert.deepEqual([body.market, body.trader], ['ETH/USD', client.trader.address])
    assert.deepEqual([(await position(other)).status, (await position(other)).body.code], [404, 'POSITION_NOT_FOUND'])

    const ids = async (path: string): Promise<string[]> => {
      const operation = path.startsWith('/orders') ? 'listOpenOrders' : 'listPositions'
      return (await client.account(path, operation)).body.data.map(({ id }: { id: string }) => id)
    }
    assert.deepEqual(await ids('/positions?market=ETH-USD'), [body.id])
    assert.deepEqual(await ids('/orders?market=ETH%2FUSD'), [])
    assert.deepEqual(await ids('/orders?status=open'), [resting.id])
    assert.deepEqual(await ids(`/orders?status=prepared&since=${prepared.createdAt}`), [prepared.id])
    assert.deepEqual(await ids(`/orders?since=${prepared.createdAt + 1}`), [])
    const { timestamp } = await world.chain.client.getBlock({ blockNumber: BigInt(body.openedAtBlock) })
    const openedAt = Number(timestamp) * 1_000
    assert.equal((await ids(`/positions?since=${openedAt}`)).at(-1), body.id)
    assert.deepEqual(await ids(`/positions?since=${openedAt + 1}`), [])

    for (const [path, operation] of [
      ['/orders', 'listOpenOrders'],
      ['/positions', 'listPositions'],
    ] as const) {
      const whole = (await client.account(path, operation)).body
      const first = (await client.account(`${path}?limit=1`, operation)).body
      const second = (await client.account(`${path}?limit=1&cursor=${first.nextCursor}`, operation)).body
      assert.deepEqual(Object.keys(whole), ['data'])
      const paged: Order[] = [...first.data, ...second.data]
      assert.deepEqual(
        paged.map(({ id }) => id),
        whole.data.map(({ id }: Order) => id),
      )
      assert.deepEqual([first.data.length, second.data.length, second.nextCursor], [1, 1, null])
    }

    await client.request('cancelOrder', 'DELETE', `/orders/${prepared.id}`)
    const cancel = await client.request('cancelOrder', 'DELETE', `/orders/${resting.id}`)
    await client.broadcast(cancel.body.transaction)
    await client.orderOnce(resting.id, ({ status }) => status === 'canceled')
    await closeAll()
    assert.equal((await position(client)).body.code, 'POSITION_NOT_FOUND')
    assert.equal((await byKey(client)).body.status, 'filled')
  })

  it('has no trade left on the chain at the end', async () => {
    const trades = await world.chain.client.readContract({
      address: world.chain.diamond,
      abi: diamondAbi,
      functionName: 'getTrades',
      args: [client.trader.address],
    })
    assert.equal(trades.length, 0)
  })
})
