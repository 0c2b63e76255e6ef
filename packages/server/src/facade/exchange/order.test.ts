import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Price } from '@bezel/protocol'
import { chainMarkets, usd } from '../../market/testing/fixtures.ts'
import { createOrder } from '../../orders/createOrder.ts'
import { reverted, uint } from '../../orders/testing/scriptedNode.ts'
import { saveLeverage } from '../../store/facadeLeverageStore.ts'
import { findOrderByClientId, listLiveOrders } from '../../store/orderStore.ts'
import { RelayRefusedError } from '../relayer/gasBudget.ts'
import {
  alo,
  executed,
  gtc,
  openExchangeWorld,
  orderAction,
  orderItem,
  placedAt,
  RELAYER,
  requested,
  statusesOf,
  TRADER,
  trigger,
  type ExchangeWorld,
} from './testing/exchangeWorld.ts'
import { orderSteps } from './testing/orderSteps.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const CLOID = '0x000000000000000000000000000ABCDE'

describe('order', () => {
  let world: ExchangeWorld

  beforeEach(async () => {
    world = await openExchangeWorld()
  })
  afterEach(() => world.remove())

  const { place, errorOf, stored } = orderSteps(() => world)

  describe('that takes the market', () => {
    it('becomes a market order bounded by its price, sent by the relayer', async () => {
      const [status] = await place(orderItem())
      const [{ attempt, hash, trader }] = world.relayer.taken as [(typeof world.relayer.taken)[0]]
      const { oid } = (status as { resting: { oid: number } }).resting
      assert.deepEqual(status, { resting: { oid }, pending: { oid, txHash: hash } })
      assert.equal(attempt.sender, RELAYER)
      assert.equal(trader, TRADER)
      assert.deepEqual(world.relayer.broadcasts, [hash])
      const { record, state } = await stored(oid)
      assert.equal(record.request.type, 'market')
      assert.equal(record.request.side, 'long')
      assert.equal(record.request.leverage, '10')
      assert.equal(record.request.price, '60000')
      // 1000 / 60000, rounded down.
      assert.equal(record.request.slippage, '1.666')
      assert.equal(state?.status, 'pending')
      assert.equal(state?.txHash, hash)
    })

    it('answers with the fill when it comes in time', async () => {
      const answer = await world.sendWhile(orderAction(orderItem({ c: CLOID })), async (oid) => {
        await world.happen(oid, requested)
        await world.happen(oid, executed)
      })
      const [status] = statusesOf(answer)
      const { filled } = status as { filled: { oid: number } }
      assert.deepEqual(filled, { totalSz: '0.09998', avgPx: '60012.0', oid: filled.oid, cloid: CLOID.toLowerCase() })
    })

    it('answers with the reason when the chain refuses it in time', async () => {
      const refusals = [
        ['SLIPPAGE', 'Order could not immediately match against any resting orders.'],
        ['TP_REACHED', 'Invalid TP/SL price.'],
        ['SL_REACHED', 'Invalid TP/SL price.'],
        ['MARKET_CLOSED', 'No liquidity available for market order.'],
        ['PAUSED', 'No liquidity available for market order.'],
        ['PRICE_IMPACT', 'No liquidity available for market order.'],
        ['EXPOSURE_LIMITS', 'Order would increase open interest while open interest is capped'],
        ['MAX_LEVERAGE', 'Order would cause position to exceed margin tier limit at current leverage'],
        ['OTHER', 'Order was rejected by the contracts.'],
      ]
      for (const [reason, error] of refusals) {
        const answer = await world.sendWhile(orderAction(orderItem()), async (oid) => {
          await world.happen(oid, requested)
          await world.happen(oid, { kind: 'refused', pendingIndex: 1, reason })
        })
        assert.deepEqual(statusesOf(answer), [{ error: `${error} asset=0` }])
      }
    })

    it('answers with an error when its transaction fails on the chain', async () => {
      const answer = await world.sendWhile(orderAction(orderItem()), (oid) => world.happen(oid, { kind: 'reverted' }))
      assert.deepEqual(statusesOf(answer), [{ error: 'Order was rejected by the contracts. asset=0' }])
    })

    it('takes what the other words for it mean', async () => {
      await place(
        orderItem({ t: { limit: { tif: 'FrontendMarket' } } }),
        orderItem({ b: false, p: '59000', t: gtc, s: '0.2' }),
      )
      const live = await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)
      assert.deepEqual(
        live.map(({ record }) => [record.request.type, record.request.side, record.request.slippage]).toSorted(),
        [
          ['market', 'long', '1.666'],
          ['market', 'short', '1.666'],
        ],
      )
    })

    it('is refused when it could not match at its price', async () => {
      const text = 'Order could not immediately match against any resting orders. asset=0'
      assert.equal(await errorOf(orderItem({ p: '59999' })), text)
      // Prices between the mark and the price of execution.
      assert.equal(await errorOf(orderItem({ p: '60011.9' })), text)
      assert.equal(await errorOf(orderItem({ b: false, p: '60001' })), text)
    })

    it('allows no more slippage than the contracts hold, and no absurd price', async () => {
      await place(orderItem({ p: '107000' }))
      const [live] = await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)
      assert.equal(live?.record.request.slippage, '65.535')
      const far = 'Order price cannot be more than 80% away from the reference price asset=0'
      assert.equal(await errorOf(orderItem({ p: '108001' })), far)
      assert.equal(await errorOf(orderItem({ b: false, p: '11999' })), far)
      assert.equal(await errorOf(orderItem({ p: '1', t: gtc })), far)
    })

    it('uses the leverage that the trader chose', async () => {
      const key = { chain: 'arbitrum', trader: TRADER, pairIndex: 0 } as const
      await world.parts.store.transaction(TEST_SCOPE, (sql) => saveLeverage(sql, key, 25))
      await place(orderItem())
      const [live] = await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)
      assert.equal(live?.record.request.leverage, '25')
    })

    it('may end before the transaction would', async () => {
      const expiresAfter = world.base.market.nowMs + 7_000
      await world.send(orderAction(orderItem()), { expiresAfter })
      assert.equal(world.relayer.taken[0]?.attempt.expiresAtMs, expiresAfter)
      const [live] = await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)
      assert.equal(live?.state?.expiresAtMs, expiresAfter)
      await world.send(orderAction(orderItem()), { expiresAfter: world.base.market.nowMs + 999_000 })
      assert.equal(world.relayer.taken[1]?.attempt.expiresAtMs, world.base.market.nowMs + 60_000)
    })
  })

  describe('that rests', () => {
    it('becomes a limit order, and answers once it is placed', async () => {
      const answer = await world.sendWhile(orderAction(orderItem({ p: '50000', t: gtc })), (oid) =>
        world.happen(oid, placedAt()),
      )
      const [status] = statusesOf(answer)
      const { oid } = (status as { resting: { oid: number } }).resting
      assert.deepEqual(status, { resting: { oid } })
      const { record } = await stored(oid)
      assert.equal(record.request.type, 'limit')
      assert.equal(record.request.price, '50000')
    })

    it('is refused when it should rest and would not', async () => {
      assert.equal(
        await errorOf(orderItem({ t: alo })),
        'Post only order would have immediately matched, bbo was 59988.00@60012.00. asset=0',
      )
      const [status] = await place(orderItem({ p: '60011', t: alo }))
      assert.ok('resting' in (status as object))
    })

    it('is refused with a price between two steps, and not with one written longer', async () => {
      assert.match(await errorOf(orderItem({ p: '50000.001', t: gtc })), /^Price must be divisible by tick size\./)
      const [status] = await place(orderItem({ p: '50000.010', s: '0.10000', t: gtc }))
      assert.ok('resting' in (status as object))
    })

    it('waits for a price to be reached from the other side as a stop', async () => {
      const [stop, limit] = await place(
        orderItem({ p: '65000', t: trigger('sl', '64000') }),
        orderItem({ p: '50000', t: trigger('tp', '55000', false) }),
      )
      const types = await Promise.all(
        [stop, limit].map(async (s) => (await stored((s as { resting: { oid: number } }).resting.oid)).record.request),
      )
      assert.deepEqual(
        types.map(({ type, price }) => [type, price]),
        [
          ['stop', '64000'],
          ['limit', '55000'],
        ],
      )
      assert.equal(await errorOf(orderItem({ t: trigger('sl', '59000') })), 'Invalid TP/SL price. asset=0')
      assert.equal(await errorOf(orderItem({ t: trigger('tp', '61000') })), 'Invalid TP/SL price. asset=0')
      assert.equal(await errorOf(orderItem({ b: false, t: trigger('sl', '61000') })), 'Invalid TP/SL price. asset=0')
    })
  })

  describe('refused by the rules of trading', () => {
    it('says what clients match', async () => {
      assert.match(await errorOf(orderItem({ s: '0.1234567' })), /^Order has invalid size/)
      assert.equal(await errorOf(orderItem({ s: '0' })), 'Order has zero size. asset=0')
      assert.match(await errorOf(orderItem({ s: '-1' })), /^Order has invalid size/)
      assert.equal(await errorOf(orderItem({ p: '0' })), 'Order has invalid price. asset=0')
      assert.match(await errorOf(orderItem({ s: '0.00001' })), /^Order must have minimum value of \$10: here it is \d/)
      assert.equal(await errorOf(orderItem({ a: 5 })), 'PAIR_5 is delisted: it can not be traded. asset=5')
      assert.equal(await errorOf(orderItem({ a: 99 })), 'There is no asset 99. asset=99')
    })

    it('says when the wallet has too little, or allows too little', async () => {
      world.base.node.simulation = reverted('0x')
      world.base.node.balance = uint(1n)
      assert.match(await errorOf(orderItem()), /^Insufficient margin to place order\. .*balance/)
      world.base.node.balance = uint(10n ** 30n)
      world.base.node.allowance = uint(1n)
      assert.match(await errorOf(orderItem()), /^Insufficient margin to place order\. .*allowance/)
    })

    it('says when the market is closed', async () => {
      world.base.market.open.clear()
      assert.match(await errorOf(orderItem()), /^No liquidity available for market order\./)
    })

    it('says when the scope or the relayer refuses', async () => {
      world.relayer.refuse = new RelayRefusedError('trader_budget', 'Gas budget of this account is used up for today.')
      assert.equal(await errorOf(orderItem()), 'Gas budget of this account is used up for today. asset=0')
      assert.equal((await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)).length, 0)
      world.relayer.refuse = undefined
      const { scope } = await world.register()
      await world.register({ scope: { ...scope, markets: ['EUR/USD'] } })
      assert.match(await errorOf(orderItem()), /scope does not name BTC\/USD/)
    })
  })

  describe('in a batch', () => {
    it('answers each, in their order', async () => {
      const statuses = await place(
        orderItem({ s: '0' }),
        orderItem({ p: '50000', t: gtc }),
        orderItem({ p: '1', t: gtc }),
      )
      assert.deepEqual(
        statuses.map((status) => Object.keys(status as object)),
        [['error'], ['resting', 'pending'], ['error']],
      )
    })

    it('takes at most ten and at least one', async () => {
      const many = Array.from({ length: 11 }, () => orderItem())
      assert.match((await world.send(orderAction(...many))).response as string, /11 orders; at most 10/)
      assert.match((await world.send(orderAction())).response as string, /no orders/)
    })

    it('judges an order by what the one before it did', async () => {
      await world.hold()
      const close = orderItem({ b: false, p: '59000', s: '0.01666', r: true })
      const short = orderItem({ b: false, p: '59000', s: '0.1' })
      const answer = await world.sendWhile(orderAction(close, short), async (oid) => {
        world.base.positions.length = 0
        await world.happen(oid, requested)
        await world.happen(oid, executed)
        // Ends the wait for the second order.
        world.parts.waits.close()
      })
      assert.deepEqual(
        statusesOf(answer).map((status) => Object.keys(status as object)),
        [['filled'], ['resting', 'pending']],
      )
    })

    it('keeps what was taken when trouble comes later, and stops before anything was', async () => {
      world.base.node.whileAsked = () => {
        if (world.relayer.taken.length > 0) world.base.node.isAway = true
      }
      const [first, second] = await place(orderItem({ p: '50000', t: gtc }), orderItem({ p: '50001', t: gtc }))
      assert.ok('resting' in (first as object))
      assert.deepEqual(second, { error: 'The service could not take this now. Retry. asset=0' })
      await assert.rejects(place(orderItem({ p: '50002', t: gtc })), { name: 'NodeUnavailableError' })
    })
  })

  describe('with an id of its client', () => {
    it('is one order, however often it is sent and whatever the market does', async () => {
      const [first] = await place(orderItem({ c: CLOID }))
      world.base.market.quotes.set(0, { ...world.base.market.quotes.get(0)!, mark: usd(60_500) })
      const [again] = await place(orderItem({ c: CLOID.toLowerCase(), p: '61000.0', s: '0.10' }))
      assert.deepEqual(again, first)
      assert.equal(world.relayer.taken.length, 1)
      await world.restart()
      assert.deepEqual((await place(orderItem({ c: CLOID })))[0], first)
      assert.ok(await findOrderByClientId(world.parts.store.read, 'arbitrum', TRADER, CLOID.toLowerCase()))
    })

    it('is refused for another order', async () => {
      await place(orderItem({ c: CLOID }))
      for (const other of [{ s: '0.2' }, { p: '61001' }, { b: false, p: '59000' }, { t: gtc }]) {
        assert.match(await errorOf(orderItem({ c: CLOID, ...other })), /^Duplicate cloid/)
      }
      assert.equal(world.relayer.taken.length, 1)
    })

    it('is one order when it is sent twice at once', async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, () => place(orderItem({ c: CLOID }))))
      assert.equal(new Set(answers.map(([status]) => (status as { resting: { oid: number } }).resting.oid)).size, 1)
      assert.equal(world.relayer.taken.length, 1)
    })

    it('is one order when it is sent twice at once and the price moves between', async () => {
      let mark = 60_000
      world.base.node.whileAsked = () => {
        world.base.market.quotes.set(0, { ...world.base.market.quotes.get(0)!, mark: usd((mark += 10)) })
      }
      const answers = await Promise.all([
        place(orderItem({ c: CLOID })),
        place(orderItem({ c: CLOID })),
        place(orderItem({ c: CLOID, s: '0.3' })),
      ])
      const oids = answers.flatMap(([status]) =>
        'resting' in (status as object) ? [(status as { resting: { oid: number } }).resting.oid] : [],
      )
      assert.equal(new Set(oids).size, 1)
      assert.equal((await listLiveOrders(world.parts.store.read, 'arbitrum', TRADER)).length, 1)
      assert.equal(world.relayer.broadcasts.length, 1)
    })

    it('shares the ids of the native interface', async () => {
      await world.base.register()
      world.base.node.delegate = world.base.write().agent.agent
      const clientId = CLOID.toLowerCase()
      const body = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.1', leverage: '10', clientId } as const
      await createOrder(world.parts.orders, world.base.write(), body)
      world.base.node.delegate = RELAYER
      world.base.market.nowMs += 5_000
      world.base.market.quotes.set(0, { ...world.base.market.quotes.get(0)!, updatedAtMs: world.base.market.nowMs })
      assert.match(await errorOf(orderItem({ c: CLOID })), /^Duplicate cloid/)
    })

    it('also names a trigger', async () => {
      const position = await world.hold()
      const stop = orderItem({ b: false, s: '0.01666', r: true, t: trigger('sl', '55000'), c: CLOID })
      const [first] = await place(stop)
      // The transaction may never be mined: no client is told that the stop protects before it does.
      assert.match(await errorOf(stop), /^Duplicate cloid: .* is not on the chain yet/)
      world.change(position.record.id, { sl: usd(55_000) })
      const [again] = await place(stop)
      assert.equal(world.relayer.taken.length, 1)
      assert.deepEqual((again as { resting: unknown }).resting, (first as { resting: unknown }).resting)
      assert.match(await errorOf({ ...stop, t: trigger('sl', '54000') }), /^Duplicate cloid/)
    })

    it('tells what became of the order', async () => {
      await world.sendWhile(orderAction(orderItem({ c: CLOID })), async (oid) => {
        await world.happen(oid, requested)
        await world.happen(oid, { kind: 'refused', pendingIndex: 1, reason: 'SLIPPAGE' })
      })
      assert.match(
        await errorOf(orderItem({ c: CLOID })),
        /^Duplicate cloid: .*, oid \d+, was rejected \(Order could not immediately match .* Use a new cloid/,
      )
    })
  })

  it('counts coins of a thousand units', async () => {
    const kilo = chainMarkets()
    const pepe = { ...kilo.markets.get('BTC/USD' as never)!, pricePrecision: 10, sizePrecision: 0 }
    const listed = {
      ...kilo,
      markets: new Map([[pepe.symbol, pepe]]),
      pairs: new Map([[0, pepe]]),
      symbols: new Map([[0, pepe.symbol]]),
    }
    world.base.market.chain = { ...listed, referencePrices: new Map([[0, Price.of(10n ** 5n)]]) }
    world.base.market.quotes.set(0, { ...world.base.market.quotes.get(0)!, mark: Price.of(10n ** 5n) })
    const [status] = await place(orderItem({ p: '0.009', s: '1000000', t: gtc }))
    const { record } = await stored((status as { resting: { oid: number } }).resting.oid)
    assert.deepEqual([record.request.price, record.request.size], ['0.000009', '1000000000'])
  })

  it('shows the native side the same order and the same events', async () => {
    const answer = await world.sendWhile(orderAction(orderItem({ p: '50000', t: gtc })), (oid) =>
      world.happen(oid, placedAt()),
    )
    const { oid } = (statusesOf(answer)[0] as { resting: { oid: number } }).resting
    const told = world.committed.flatMap(({ orders }) => orders.map(({ record, after }) => [record.id, after?.status]))
    assert.deepEqual(told, [
      [String(oid), 'pending'],
      [String(oid), 'open'],
    ])
  })
})
