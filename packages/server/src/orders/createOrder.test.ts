import { diamondAbi, Price } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { decodeFunctionData } from 'viem'
import { NO_JOURNAL } from '../journal/testing/testLog.ts'
import { listAttempts, setMismatch, setSubmitted } from '../store/attemptStore.ts'
import { findOrder } from '../store/orderStore.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import { insertOrderEvent } from '../store/orderEventStore.ts'
import { utcDayOf } from '../trading/scope.ts'
import { cancelOrder } from './cancelOrder.ts'
import { createOrder } from './createOrder.ts'
import { submitOrder } from './submitOrder.ts'
import { refoldOrder } from '../journal/refold.ts'
import {
  AGENT,
  LIMIT_BODY,
  MARKET_BODY,
  openOrdersWorld,
  OTHER_AGENT,
  TRADER,
  type OrdersWorld,
} from './testing/ordersWorld.ts'
import { ok, reverted, uint } from './testing/scriptedNode.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected

/** Returns the spend of so many market orders of `MARKET_BODY`: 0.1 BTC at 60,000 and half of a spread of 0.04 %. */
const marketSpend = (orders: number) => BigInt(orders) * 6_001_200n * 10n ** 15n

describe('createOrder', () => {
  let world: OrdersWorld

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
  })
  afterEach(() => world.remove())

  const create = (body = MARKET_BODY, write = world.write()) => createOrder(world.orders, write, body)
  const spentToday = () => readSpentUsd(world.opened.store.read, 'arbitrum', AGENT, utcDayOf(world.market.nowMs))

  it('prepares with one round trip and one transaction of the store', async () => {
    const write = world.write()
    const before = { trips: world.node.roundTrips(), transactions: world.transactions }
    const { prepared, isRepeat } = await create(MARKET_BODY, write)
    assert.equal(world.node.roundTrips() - before.trips, 1)
    assert.equal(world.transactions - before.transactions, 1)
    assert.equal(isRepeat, false)
    assert.equal(prepared.order.status, 'prepared')
    assert.equal(prepared.order.id, '1')
    assert.equal(prepared.order.price, null)
    assert.equal(prepared.order.expiresAt, world.market.nowMs + 60_000)
    assert.equal(prepared.transaction?.to, world.orders.chain.diamond)
    assert.equal(prepared.transaction.expiresAt, world.market.nowMs + 60_000)
    assert.equal(prepared.transaction.gas, String(Math.ceil(200_001 * 1.5)))
    assert.deepEqual(
      world.changes.map(({ before: was, after }) => [was, after?.status]),
      [[undefined, 'prepared']],
    )
  })

  it('wraps the call for the delegate, with the id of the attempt behind it', async () => {
    const { prepared } = await create()
    const { data } = prepared.transaction!
    const { functionName, args } = decodeFunctionData({ abi: diamondAbi, data: data as `0x${string}` })
    assert.equal(functionName, 'delegatedTradingAction')
    assert.equal(args?.[0], TRADER)
    const [attempt] = await listAttempts(world.opened.store.read, prepared.order.id as never)
    assert.equal(attempt?.calldata, data)
    assert.ok(data.endsWith(attempt!.id.slice(2)))
    const [simulated] = world.node.batches[0]!
    assert.deepEqual(simulated!.params, [{ from: AGENT, to: world.orders.chain.diamond, data }, 'latest'])
  })

  it('needs no delegate of a trader that signs itself', async () => {
    await world.register({ agent: TRADER })
    world.node.delegate = OTHER_AGENT
    const { prepared } = await create(MARKET_BODY, world.write(TRADER))
    const { functionName } = decodeFunctionData({ abi: diamondAbi, data: prepared.transaction!.data as `0x${string}` })
    assert.equal(functionName, 'openTrade')
    assert.equal(world.node.batches.length, 1)
    // Simulation, gas, balance, allowance, the trader's terms and the token's price.
    assert.equal(world.node.batches[0]!.length, 6)
  })

  it('gives a resting order more time', async () => {
    const { prepared } = await create(LIMIT_BODY)
    assert.equal(prepared.order.expiresAt, world.market.nowMs + 300_000)
  })

  it('says gas null when it could not be estimated', async () => {
    world.node.estimate = { ok: false, code: -32000, message: 'insufficient funds', data: undefined }
    assert.equal((await create()).prepared.transaction?.gas, null)
    world.node.estimate = ok('lots')
    assert.equal((await create()).prepared.transaction?.gas, null)
  })

  it('keeps nothing of a simulation that reverts', async () => {
    world.node.simulation = reverted('0x084986e7')
    world.node.allowance = uint(5n)
    await assert.rejects(create(), code('SIMULATION_REVERTED'))
    assert.equal(await findOrder(world.opened.store.read, '1' as never), undefined)
    assert.equal(await spentToday(), 0n)
  })

  it('says not delegated before anything about the request, and learns the delegate for free', async () => {
    world.node.delegate = OTHER_AGENT
    world.node.simulation = reverted('0x084986e7')
    await assert.rejects(create(), code('AGENT_NOT_DELEGATED'))
    assert.equal(world.orders.delegates.known(TRADER), OTHER_AGENT)
    await assert.rejects(create({ ...MARKET_BODY, market: 'NO/USD' }), code('AGENT_NOT_DELEGATED'))
    await assert.rejects(create({ ...MARKET_BODY, leverage: '100000' }), code('AGENT_NOT_DELEGATED'))
    // A negative answer is checked once more before anybody is refused.
    assert.equal(world.node.roundTrips(), 3)
    world.node.delegate = AGENT
    await assert.rejects(create({ ...MARKET_BODY, market: 'NO/USD' }), code('MARKET_NOT_FOUND'))
  })

  it('says what is wrong with the request even while the node is away', async () => {
    world.node.isAway = true
    await assert.rejects(create({ ...MARKET_BODY, market: 'NO/USD' }), code('MARKET_NOT_FOUND'))
    await assert.rejects(create(), { name: 'NodeUnavailableError' })
  })

  it('asks the scope before the rules of the market and before the contracts', async () => {
    await world.register({
      scope: { ...UNLIMITED_SCOPE, markets: ['EUR/USD'], maxLeverage: '5', dailySpendCapUsd: '100' },
    })
    world.node.simulation = reverted('0x084986e7')
    world.market.open.clear()
    await assert.rejects(create(), code('SCOPE_MARKET_NOT_ALLOWED'))
    await world.register({ scope: { ...UNLIMITED_SCOPE, maxLeverage: '5', dailySpendCapUsd: '100' } })
    await assert.rejects(create({ ...MARKET_BODY, leverage: '1000' }), code('SCOPE_LEVERAGE_EXCEEDED'))
    world.market.open.add(0)
    await assert.rejects(create({ ...MARKET_BODY, leverage: '5' }), code('SCOPE_SPEND_CAP_EXCEEDED'))
  })

  it('refuses a nonce twice, also when only the store remembers it', async () => {
    const write = world.write()
    await create(MARKET_BODY, write)
    await assert.rejects(create(MARKET_BODY, write), code('NONCE_REUSED'))
    await world.restart()
    await assert.rejects(create(MARKET_BODY, write), code('NONCE_REUSED'))
  })

  it('refuses an agent that is revoked, or loses its scope, while the node is asked', async () => {
    world.node.whileAsked = async () => void (await world.register({ revoked: true }))
    await assert.rejects(create(), code('AGENT_REVOKED'))
    await world.register()
    world.node.whileAsked = async () =>
      void (await world.register({ scope: { ...UNLIMITED_SCOPE, markets: ['EUR/USD'] } }))
    await assert.rejects(create(), code('SCOPE_MARKET_NOT_ALLOWED'))
    await world.register()
    world.node.whileAsked = async () =>
      void (await world.register({ scope: { ...UNLIMITED_SCOPE, permissions: 'read' } }))
    await assert.rejects(create(), code('SCOPE_READ_ONLY'))
    assert.equal(await findOrder(world.opened.store.read, '1' as never), undefined)
  })

  it('never passes the cap, however many prepare at once', async () => {
    await world.register({ scope: { ...UNLIMITED_SCOPE, dailySpendCapUsd: '20000' } })
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => create()))
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(outcomes.length - refused.length, 3)
    assert.ok(refused.every(({ reason }) => code('SCOPE_SPEND_CAP_EXCEEDED')(reason)))
    assert.equal(await spentToday(), marketSpend(3))
    // An expired order frees its place even before its stored state is updated.
    world.market.nowMs += 60_000
    world.market.quotes.set(0, { ...world.market.quotes.get(0)!, updatedAtMs: world.market.nowMs })
    await create()
    assert.equal(await spentToday(), marketSpend(1))
  })

  it('lets an agent have so many prepared orders', async () => {
    world.orders = { ...world.orders, settings: { ...world.orders.settings, maxPreparedOrders: 2 } }
    await create()
    const { prepared } = await create()
    await assert.rejects(create(), (error: unknown) => {
      assert.ok(code('TOO_MANY_PREPARED_ORDERS')(error))
      assert.deepEqual((error as { details?: unknown }).details, { limit: 2 })
      return true
    })
    // A reported order is on its way and no longer counts.
    const { store } = world.opened
    const [attempt] = await listAttempts(store.read, prepared.order.id as never)
    await store.transaction(TEST_SCOPE, async (sql) => {
      const hash = `0x${'9'.repeat(64)}` as never
      await setSubmitted(sql, attempt!.id, { hash, submittedAtMs: world.market.nowMs, trustedUntilMs: null })
      await refoldOrder(sql, prepared.order.id as never, world.orders.clock(), NO_JOURNAL)
    })
    await create()
  })

  describe('with a clientId', () => {
    const BODY = { ...MARKET_BODY, clientId: 'a' }

    it('answers a repeat with the same order and transaction, without asking the node', async () => {
      const first = await create(BODY)
      const trips = world.node.roundTrips()
      world.market.quotes.set(0, { ...world.market.quotes.get(0)!, mark: Price.of(70_000n * 10n ** 10n) })
      const again = await create({ ...BODY, slippage: '1.0', collateral: 'USDC', reduceOnly: false, size: '0.10' })
      assert.equal(again.isRepeat, true)
      assert.deepEqual(again.prepared, first.prepared)
      assert.equal(world.node.roundTrips(), trips)
      assert.equal(await spentToday(), marketSpend(1))
    })

    it('answers the same after a restart', async () => {
      const first = await create(BODY)
      await world.restart()
      assert.deepEqual((await create(BODY)).prepared, first.prepared)
    })

    it('is good for one order only', async () => {
      await create(BODY)
      for (const change of [
        { size: '0.2' },
        { side: 'short' },
        { leverage: '11' },
        { price: '60000' },
        { tp: '70000' },
      ]) {
        await assert.rejects(create({ ...BODY, ...change } as never), code('IDEMPOTENCY_CONFLICT'))
      }
      // Every trader has its own space of clientIds.
      await world.register({ agent: OTHER_AGENT, trader: OTHER_AGENT })
      assert.equal((await create({ ...BODY, size: '0.2' }, world.write(OTHER_AGENT))).isRepeat, false)
    })

    it('makes one order of two requests that race', async () => {
      const both = await Promise.all([create(BODY), create(BODY)])
      assert.deepEqual(both.map(({ isRepeat }) => isRepeat).toSorted(), [false, true])
      assert.deepEqual(both[0].prepared, both[1].prepared)
      assert.equal(await spentToday(), marketSpend(1))
      const outcomes = await Promise.allSettled([
        create({ ...BODY, clientId: 'b' }),
        create({ ...BODY, clientId: 'b', size: '0.2' }),
      ])
      assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    })

    it('is prepared again under the same id once it expired, and counted anew', async () => {
      const first = await create(BODY)
      world.market.nowMs += 60_000
      const quote = {
        ...world.market.quotes.get(0)!,
        mark: Price.of(70_000n * Price.one),
        updatedAtMs: world.market.nowMs,
      }
      world.market.quotes.set(0, quote)
      const again = await create(BODY)
      assert.equal(again.isRepeat, true)
      assert.equal(again.prepared.order.id, first.prepared.order.id)
      assert.equal(again.prepared.order.status, 'prepared')
      assert.equal(again.prepared.order.createdAt, first.prepared.order.createdAt)
      assert.notEqual(again.prepared.transaction?.data, first.prepared.transaction?.data)
      assert.equal(await spentToday(), 7_001_400n * 10n ** 15n)
      assert.deepEqual((await create(BODY)).prepared, again.prepared)
    })

    it('is prepared anew for another agent of the trader, and counts for that one', async () => {
      await world.register({ agent: OTHER_AGENT })
      const first = await create(BODY)
      world.node.delegate = OTHER_AGENT
      world.market.nowMs += 2_001
      const again = await create(BODY, world.write(OTHER_AGENT))
      assert.equal(again.prepared.order.id, first.prepared.order.id)
      assert.equal(await spentToday(), 0n)
      const stored = await findOrder(world.opened.store.read, '1' as never)
      assert.equal(stored?.record.agent, OTHER_AGENT)
    })

    it('has no transaction once it is on its way or on the chain', async () => {
      const { prepared } = await create({ ...LIMIT_BODY, clientId: 'c' })
      const { store } = world.opened
      const id = prepared.order.id as never
      const [attempt] = await listAttempts(store.read, id)
      await store.transaction(TEST_SCOPE, async (sql) => {
        const hash = `0x${'9'.repeat(64)}` as never
        await setSubmitted(sql, attempt!.id, { hash, submittedAtMs: world.market.nowMs, trustedUntilMs: null })
        await refoldOrder(sql, id, world.orders.clock(), NO_JOURNAL)
      })
      const reported = await create({ ...LIMIT_BODY, clientId: 'c' })
      assert.deepEqual([reported.prepared.order.status, reported.prepared.transaction], ['pending', null])
      const terms = { price: 50_000n * 10n ** 10n, sl: 0n, tp: 0n, slippageP: 1_000, tradeIndex: 4 }
      const place = { blockNumber: 101, blockHash: '0xb1', logIndex: 0, txHash: `0x${'9'.repeat(64)}`, timestampMs: 5 }
      const event = { kind: 'placed', attemptId: attempt!.id, ...terms, ...place } as never
      await store.transaction(TEST_SCOPE, (sql) =>
        insertOrderEvent(sql, { chain: 'arbitrum', trader: TRADER, orderId: id, handle: 'trade:4', event }),
      )
      world.market.nowMs += 400_000
      const onChain = await create({ ...LIMIT_BODY, clientId: 'c' })
      assert.deepEqual([onChain.prepared.order.status, onChain.prepared.transaction], ['open', null])
    })

    describe('and a reported hash', () => {
      const hash = `0x${'9'.repeat(64)}`
      const at = (ms: number) => {
        world.market.nowMs += ms
        world.market.quotes.set(0, { ...world.market.quotes.get(0)!, updatedAtMs: world.market.nowMs })
      }
      const summary = ({ prepared: { order, transaction } }: Awaited<ReturnType<typeof create>>) => [
        order.status,
        order.txHash,
        transaction,
      ]

      it('has no transaction until the first one is out of date, also when no node knows the hash', async () => {
        const { prepared } = await create(BODY)
        await submitOrder(world.orders, world.write(), prepared.order.id as never, { txHash: hash })
        assert.deepEqual(summary(await create(BODY)), ['pending', hash, null])
        at(10_000)
        assert.deepEqual(summary(await create(BODY)), ['prepared', hash, null])
        at(49_999)
        assert.deepEqual(summary(await create(BODY)), ['prepared', hash, null])
        at(1)
        const again = await create(BODY)
        assert.deepEqual(
          [again.prepared.order.id, again.prepared.order.status, again.prepared.order.txHash],
          [prepared.order.id, 'prepared', null],
        )
        assert.notEqual(again.prepared.transaction?.data, prepared.transaction?.data)
      })

      it('has none either for another agent, after a wrong hash, or once it was withdrawn', async () => {
        await world.register({ agent: OTHER_AGENT })
        const { prepared } = await create(BODY)
        const id = prepared.order.id as never
        await submitOrder(world.orders, world.write(), id, { txHash: hash })
        at(10_000)
        world.node.delegate = OTHER_AGENT
        assert.deepEqual(summary(await create(BODY, world.write(OTHER_AGENT))), ['prepared', hash, null])
        world.node.delegate = AGENT
        at(3_001)
        const [attempt] = await listAttempts(world.opened.store.read, id)
        await world.opened.store.transaction(TEST_SCOPE, (sql) => setMismatch(sql, attempt!.id, id))
        assert.deepEqual(summary(await create(BODY)), ['prepared', null, null])
        await cancelOrder(world.orders, world.write(), id)
        assert.deepEqual(summary(await create(BODY)), ['expired', null, null])
        at(50_000)
        assert.notEqual((await create(BODY)).prepared.transaction, null)
      })
    })

    it('is refused to an agent that is not the delegate any more', async () => {
      await create(BODY)
      world.node.delegate = OTHER_AGENT
      world.market.nowMs += 3_001
      await assert.rejects(create(BODY), code('AGENT_NOT_DELEGATED'))
    })
  })

  it('has ids that no refusal uses up and no restart gives again', async () => {
    await create()
    await assert.rejects(create({ ...MARKET_BODY, size: '0.00001' }), code('SIZE_BELOW_MINIMUM'))
    await world.restart()
    assert.equal((await create()).prepared.order.id, '2')
  })
})
