import { diamondAbi, Price, type FlattenRequest, type PreparedTransaction } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { decodeFunctionData, toFunctionSelector, type Hex } from 'viem'
import { notReady } from '../ground/unavailable.ts'
import { listAttemptOrders, listAttempts, setMismatch } from '../store/attemptStore.ts'
import { findOrder } from '../store/orderStore.ts'
import { positionOf } from '../trading/plan/testing/fixtures.ts'
import type { Trade } from '../trading/valuation/chainState.ts'
import { cancelOrder } from './cancelOrder.ts'
import { createOrder } from './createOrder.ts'
import { flatten, type Ended } from './flatten.ts'
import { submitOrder } from './submitOrder.ts'
import { happen, hashOf, lastAttempt, placed } from './testing/chainEvents.ts'
import { AGENT, LIMIT_BODY, MARKET_BODY, openOrdersWorld, TRADER, type OrdersWorld } from './testing/ordersWorld.ts'
import { ok, reverted } from './testing/scriptedNode.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected

/** The custom error of a trade that another request of the trader concerns. */
const CONFLICT = `${toFunctionSelector('function ConflictingPendingOrder(uint8)')}${'0'.repeat(63)}1`

interface Call {
  readonly functionName: string
  readonly args: readonly unknown[]
}

function decoded(data: Hex): Call {
  return decodeFunctionData({ abi: diamondAbi, data }) as never
}

/** Returns the calls that a transaction makes for the trader. */
function innerCalls(data: Hex): Call[] {
  const outer = decoded(data)
  assert.equal(outer.functionName, 'delegatedTradingAction')
  const inner = decoded(outer.args[1] as Hex)
  return inner.functionName === 'multicall' ? (inner.args[0] as Hex[]).map(decoded) : [inner]
}

function calls(transaction: PreparedTransaction | null): string[] {
  return innerCalls(transaction!.data as Hex).map(({ functionName, args }) => `${functionName} ${String(args[0])}`)
}

describe('the end of many orders and positions', () => {
  let world: OrdersWorld

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
  })
  afterEach(() => world.remove())

  const end = (ended: Ended, body: FlattenRequest = {}) => flatten(world.orders, world.write(), ended, body)
  const create = async (body = LIMIT_BODY) => (await createOrder(world.orders, world.write(), body)).prepared.order.id
  const statusOf = async (id: string) => (await findOrder(world.opened.store.read, id as never))?.state?.status

  /** Makes a resting order with this index on the chain. */
  async function rest(tradeIndex: number): Promise<string> {
    const id = await create()
    await placed(world, id, { tradeIndex, price: Price.of(50_000n * Price.one) })
    return id
  }

  async function request(pendingIndex: number): Promise<string> {
    const id = await create(MARKET_BODY)
    await happen(world, id, { kind: 'requested', pendingIndex, tradeIndex: 0 }, `pending:${pendingIndex}`)
    return id
  }

  /** Adds a position of the trader, whose id is 9,000 and its index. */
  function hold(index: number, trade: Partial<Trade> = {}): string {
    const { record, state } = positionOf({ index, ...trade }, String(9_000 + index))
    world.positions.push({ record: { ...record, trader: TRADER }, state })
    return record.id
  }

  /** Lets the simulation of every transaction revert that has a call with this name and index. */
  function refuse(refused: (call: string) => boolean): void {
    world.node.simulationOf = (data) => {
      const isRefused = innerCalls(data).some(({ functionName, args }) => refused(`${functionName} ${String(args[0])}`))
      return isRefused ? reverted(CONFLICT) : ok('0x')
    }
  }

  it('cancels, reclaims and closes in one transaction, and withdraws at once what was not sent', async () => {
    const late = await request(3)
    world.headBlock += 200
    const resting = await rest(5)
    const unsent = await create()
    hold(7)
    const trips = world.node.roundTrips()
    const { orders, leftOut, transaction, next } = await end('all')
    assert.deepEqual(calls(transaction), ['cancelOrderAfterTimeout 3', 'cancelOpenOrder 5', 'closeTradeMarket 7'])
    assert.deepEqual(
      orders.map(({ id, status }) => [id, status]),
      [
        [late, 'timed_out'],
        [resting, 'open'],
        [unsent, 'expired'],
        [orders[3]!.id, 'prepared'],
      ],
    )
    const { market, side, size, reduceOnly, clientId, expiresAt } = orders[3]!
    const { state } = world.positions[0]!
    assert.deepEqual([market, side, reduceOnly, clientId], ['BTC/USD', 'short', true, null])
    assert.equal(size, '0.016663333999866693')
    assert.equal(state.trade.long, true)
    assert.equal(expiresAt, world.market.nowMs + 60_000)
    assert.deepEqual([leftOut, next], [[], null])
    // The transaction, its gas, each of its three legs alone, and the delegate: one round trip.
    assert.equal(world.node.roundTrips() - trips, 1)
    assert.equal(world.node.batches.at(-1)!.length, 6)
    const { id } = await lastAttempt(world, orders[3]!.id)
    const stored = await listAttemptOrders(world.opened.store.read, id)
    assert.deepEqual(
      stored.map(({ orderId, place, attempt }) => [
        orderId,
        place,
        attempt.kind,
        attempt.calldata === transaction!.data,
      ]),
      [
        [late, 0, 'reclaim', true],
        [resting, 1, 'cancel', true],
        [orders[3]!.id, 2, 'open', true],
      ],
    )
    assert.equal(transaction!.data.slice(-16), id.slice(2))
    assert.equal(await statusOf(unsent), 'expired')
  })

  it('ends only orders, only positions, or only one market', async () => {
    const resting = await rest(5)
    hold(7)
    hold(8, { pairIndex: 21 })
    world.market.open.add(21)
    assert.deepEqual(calls((await end('orders')).transaction), ['cancelOpenOrder 5'])
    assert.deepEqual(calls((await end('positions')).transaction), ['closeTradeMarket 7', 'closeTradeMarket 8'])
    assert.deepEqual(calls((await end('all', { market: 'BTC/USD' })).transaction), [
      'cancelOpenOrder 5',
      'closeTradeMarket 7',
    ])
    // The close that was prepared for it above.
    const { orders, transaction } = await end('orders', { market: 'EUR/USD' })
    assert.deepEqual([orders.map(({ status }) => status), transaction], [['expired'], null])
    assert.deepEqual(await end('orders', { market: 'EUR/USD' }), {
      orders: [],
      leftOut: [],
      transaction: null,
      next: null,
    })
    assert.equal(await statusOf(resting), 'open')
    await assert.rejects(end('all', { market: 'BTC/EUR' }), code('MARKET_NOT_FOUND'))
  })

  it('ends prepared orders while the Diamond is changed, and sends nothing to it', async () => {
    const endWhile = (reason: 'diamond_changed' | 'chain_lagging', ended: Ended) => {
      const trading = (): never => {
        throw notReady(reason)
      }
      return flatten({ ...world.orders, trading }, world.write(), ended, {})
    }
    const unsent = await create()
    await assert.rejects(endWhile('chain_lagging', 'orders'), code('NOT_READY'))
    await assert.rejects(endWhile('diamond_changed', 'all'), code('NOT_READY'))
    assert.equal(await statusOf(unsent), 'prepared')
    const { orders, transaction } = await endWhile('diamond_changed', 'orders')
    assert.deepEqual([orders.map(({ id, status }) => [id, status]), transaction], [[[unsent, 'expired']], null])
    await rest(5)
    await assert.rejects(endWhile('diamond_changed', 'orders'), code('NOT_READY'))
  })

  it('leaves out and names a leg that would revert, and takes the others', async () => {
    await rest(5)
    const lost = await rest(6)
    const bad = hold(7)
    hold(8)
    refuse((call) => call === 'cancelOpenOrder 6' || call === 'closeTradeMarket 7')
    const trips = world.node.roundTrips()
    const { orders, leftOut, transaction } = await end('all')
    assert.deepEqual(calls(transaction), ['cancelOpenOrder 5', 'closeTradeMarket 8'])
    assert.deepEqual(
      leftOut.map(({ id, code: why }) => [id, why]),
      [
        [lost, 'SIMULATION_REVERTED'],
        [bad, 'SIMULATION_REVERTED'],
      ],
    )
    assert.match(leftOut[0]!.message, /ConflictingPendingOrder/)
    assert.equal(orders.length, 2)
    assert.equal(world.node.roundTrips() - trips, 2)
    assert.equal((await listAttempts(world.opened.store.read, lost as never)).length, 1)
  })

  it('prepares nothing when every leg would revert', async () => {
    hold(7)
    hold(8)
    refuse(() => true)
    const { orders, leftOut, transaction, next } = await end('all')
    assert.deepEqual([orders, transaction, next, leftOut.length], [[], null, null, 2])
    world.positions.pop()
    assert.equal((await end('all')).leftOut.length, 1)
  })

  it('takes fewer legs at once when they pass only alone', async () => {
    for (let index = 1; index <= 5; index += 1) hold(index)
    world.node.simulationOf = (data) => (innerCalls(data).length > 3 ? reverted('0x') : ok('0x'))
    const first = await end('positions')
    assert.deepEqual([calls(first.transaction).length, first.leftOut, first.next], [3, [], 'p9003'])
    const second = await end('positions', { next: first.next! })
    assert.deepEqual([calls(second.transaction).length, second.next], [2, null])
  })

  it('looks at 20 orders and positions, then goes on with next, each of them once', async () => {
    for (let index = 1; index <= 12; index += 1) await rest(index)
    for (let index = 21; index <= 50; index += 1) hold(index)
    const seen: string[] = []
    const pages: (string | null)[] = []
    let next: string | undefined
    do {
      const page = await end('all', next === undefined ? {} : { next })
      seen.push(...calls(page.transaction))
      pages.push(page.next)
      next = page.next ?? undefined
    } while (next !== undefined)
    assert.deepEqual(pages, ['p9028', 'p9048', null])
    assert.equal(seen.length, 42)
    assert.equal(new Set(seen).size, 42)
  })

  it('counts the calls of a slippage of its own', async () => {
    for (let index = 1; index <= 12; index += 1) hold(index)
    const { orders, transaction, next } = await end('positions', { slippage: '2.5' })
    assert.deepEqual([orders.length, calls(transaction).length, next], [10, 20, 'p9010'])
    assert.equal(orders[0]!.slippage, '2.5')
    assert.equal(innerCalls(transaction!.data as Hex)[0]!.args[1], 2_500)
    await assert.rejects(end('positions', { slippage: '0.0001' }), code('VALIDATION_ERROR'))
    await assert.rejects(end('positions', { slippage: '1.00001' }), code('PRECISION_ERROR'))
  })

  it('names what waits for the oracle, what is closed, and what the scope does not name', async () => {
    const waiting = await request(3)
    const closed = hold(8, { pairIndex: 21 })
    const { leftOut } = await end('all')
    assert.deepEqual(
      leftOut.map(({ id, code: why }) => [id, why]),
      [
        [waiting, 'ORDER_NOT_MODIFIABLE'],
        [closed, 'MARKET_CLOSED'],
      ],
    )
    await world.register({ scope: { ...UNLIMITED_SCOPE, markets: ['EUR/USD'] } })
    await rest(5).catch(() => undefined)
    hold(7)
    const scoped = await end('positions')
    assert.deepEqual(
      scoped.leftOut.map(({ code: why }) => why),
      ['SCOPE_MARKET_NOT_ALLOWED', 'MARKET_CLOSED'],
    )
    await assert.rejects(end('all', { market: 'BTC/USD' }), code('SCOPE_MARKET_NOT_ALLOWED'))
  })

  it('closes when the cap of the day is spent, and not with an agent that may only read', async () => {
    await world.register({ scope: { ...UNLIMITED_SCOPE, dailySpendCapUsd: '0' } })
    hold(7)
    assert.equal((await end('all')).orders.length, 1)
    await world.register({ scope: { ...UNLIMITED_SCOPE, permissions: 'read' } })
    await assert.rejects(end('all'), code('SCOPE_READ_ONLY'))
  })

  it('counts once among the prepared orders, and makes room for itself', async () => {
    for (let index = 1; index <= 3; index += 1) hold(index)
    for (let n = 0; n < 19; n += 1) await create()
    assert.equal((await end('positions')).orders.length, 3)
    await assert.rejects(create(), code('TOO_MANY_PREPARED_ORDERS'))
    await assert.rejects(end('positions'), code('TOO_MANY_PREPARED_ORDERS'))
    // Of the 22 prepared orders the first page withdraws 20, the second one two, and closes then.
    const first = await end('all')
    assert.deepEqual([first.orders.length, first.transaction], [20, null])
    const second = await end('all', { next: first.next! })
    assert.deepEqual(
      second.orders.map(({ status }) => status),
      ['expired', 'expired', 'prepared', 'prepared', 'prepared'],
    )
    await create()
  })

  it('tells an agent that is not the delegate so, and stores nothing', async () => {
    const unsent = await create()
    hold(7)
    world.node.delegate = TRADER
    await assert.rejects(end('all'), code('AGENT_NOT_DELEGATED'))
    world.positions.pop()
    world.market.nowMs += 5_000
    await assert.rejects(end('all'), code('AGENT_NOT_DELEGATED'))
    assert.equal(await statusOf(unsent), 'prepared')
  })

  it('begins the page again when an order changed while the node was asked, and leaves out one that does not rest', async () => {
    const resting = await rest(5)
    hold(7)
    world.node.whileAsked = async () => {
      world.node.whileAsked = () => undefined
      await happen(world, resting, { kind: 'canceled' })
    }
    const { orders, transaction } = await end('all')
    assert.deepEqual([orders.length, calls(transaction)], [1, ['closeTradeMarket 7']])
    const restless = await rest(6)
    await rest(8)
    let sl = 0n
    world.node.whileAsked = () => {
      sl += Price.one
      const terms = { price: Price.of(50_000n * Price.one), sl: Price.of(sl), tp: Price.zero, slippageP: 1_000 }
      return happen(world, restless, { kind: 'updated', ...terms })
    }
    const without = await end('orders')
    assert.deepEqual(calls(without.transaction), ['cancelOpenOrder 8'])
    assert.deepEqual(
      without.leftOut.map(({ id, code: why }) => [id, why]),
      [[restless, 'ORDER_NOT_MODIFIABLE']],
    )
    assert.equal(sl, 3n * Price.one)
    assert.equal((await listAttempts(world.opened.store.read, restless as never)).length, 1)
  })

  it('closes what a timed-out close stands in the way of, in the transaction that reclaims it', async () => {
    hold(7)
    const [late] = (await end('positions')).orders
    await happen(world, late!.id, { kind: 'requested', pendingIndex: 3, tradeIndex: 7 }, 'pending:3')
    world.headBlock += 200
    const bad = hold(8)
    world.node.simulationOf = (data) => {
      const inner = innerCalls(data).map(({ functionName, args }) => `${functionName} ${String(args[0])}`)
      const isInTheWay = inner.includes('closeTradeMarket 7') && inner[0] !== 'cancelOrderAfterTimeout 3'
      return isInTheWay || inner.includes('closeTradeMarket 8') ? reverted(CONFLICT) : ok('0x')
    }
    const { transaction, leftOut } = await end('all')
    assert.deepEqual(calls(transaction), ['cancelOrderAfterTimeout 3', 'closeTradeMarket 7'])
    assert.deepEqual(
      leftOut.map(({ id }) => id),
      [bad],
    )
  })

  it('is prepared twice when it is pressed twice at once, and the next press withdraws both', async () => {
    await rest(5)
    hold(7)
    const [first, second] = await Promise.all([end('all'), end('all')])
    assert.notEqual(first.transaction!.data, second.transaction!.data)
    const closes = [first, second].map(({ orders }) => orders[1]!.id)
    assert.equal(new Set(closes).size, 2)
    const { orders } = await end('all')
    assert.deepEqual(
      orders.map(({ status }) => status),
      ['open', 'expired', 'expired', 'prepared'],
    )
  })

  it('names a prepared order that was sent while the node was asked', async () => {
    const unsent = await create()
    hold(7)
    world.node.whileAsked = async () => {
      world.node.whileAsked = () => undefined
      await placed(world, unsent)
    }
    const { orders, leftOut } = await end('all')
    assert.deepEqual(
      leftOut.map(({ id, code: why }) => [id, why]),
      [[unsent, 'ORDER_NOT_MODIFIABLE']],
    )
    assert.equal(orders.length, 1)
  })

  describe('the orders of one transaction', () => {
    const HASH = hashOf(77)

    async function closeThree(): Promise<string[]> {
      for (let index = 1; index <= 3; index += 1) hold(index)
      return (await end('positions')).orders.map(({ id }) => id)
    }
    const statuses = async (ids: readonly string[]) => Promise.all(ids.map(statusOf))
    const submit = (id: string, txHash = HASH) => submitOrder(world.orders, world.write(), id as never, { txHash })

    it('are all sent with the report for one of them, which may be repeated for another', async () => {
      const ids = await closeThree()
      const other = await create()
      assert.equal((await submit(ids[1]!)).status, 'pending')
      assert.deepEqual(await statuses(ids), ['pending', 'pending', 'pending'])
      assert.equal((await submit(ids[2]!)).txHash, HASH)
      await assert.rejects(submit(other), code('SUBMISSION_MISMATCH'))
      assert.equal((await submit(ids[0]!, hashOf(78))).txHash, hashOf(78))
      assert.equal((await findOrder(world.opened.store.read, ids[2] as never))?.state?.txHash, hashOf(78))
    })

    it('are withdrawn one by one, and expire together', async () => {
      const ids = await closeThree()
      assert.equal((await cancelOrder(world.orders, world.write(), ids[0] as never)).order.status, 'expired')
      assert.equal((await cancelOrder(world.orders, world.write(), ids[2] as never)).order.status, 'expired')
      assert.deepEqual(await statuses(ids), ['expired', 'prepared', 'expired'])
      world.market.nowMs += 60_000
      assert.equal((await end('orders')).orders.length, 0)
    })

    it('keep a wrong hash to themselves', async () => {
      const ids = await closeThree()
      await submit(ids[0]!)
      const { id } = await lastAttempt(world, ids[1]!)
      await world.opened.store.transaction(TEST_SCOPE, (sql) => setMismatch(sql, id, ids[1] as never))
      const marks = async () =>
        (await listAttemptOrders(world.opened.store.read, id)).map(({ attempt }) => attempt.isMismatch)
      assert.deepEqual(await marks(), [false, true, false])
      await submit(ids[1]!)
      assert.deepEqual(await marks(), [false, false, false])
    })

    it('are the same after a restart', async () => {
      const ids = await closeThree()
      await world.restart()
      assert.deepEqual(await statuses(ids), ['prepared', 'prepared', 'prepared'])
      assert.equal((await lastAttempt(world, ids[2]!)).sender, AGENT)
    })
  })
})
