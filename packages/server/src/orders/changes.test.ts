import { diamondAbi, Price, type ApiError, type PreparedTransaction, type TransactionRequest } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { decodeFunctionData, erc20Abi, type Hex } from 'viem'
import { createDelegates } from '../agents/delegates.ts'
import { refoldOrder } from '../journal/refold.ts'
import { NO_JOURNAL } from '../journal/testing/testLog.ts'
import { listAttempts } from '../store/attemptStore.ts'
import { findOrder } from '../store/orderStore.ts'
import { findAgent, readSpentUsd } from '../store/agentStore.ts'
import { positionOf } from '../trading/plan/testing/fixtures.ts'
import { utcDayOf } from '../trading/scope.ts'
import { usdc } from '../trading/valuation/testing/fixtures.ts'
import { cancelOrder } from './cancelOrder.ts'
import { closePosition } from './closePosition.ts'
import { createOrder } from './createOrder.ts'
import { happen, lastAttempt, placed, replaced } from './testing/chainEvents.ts'
import {
  AGENT,
  LIMIT_BODY,
  MARKET_BODY,
  openOrdersWorld,
  OTHER_AGENT,
  OTHER_TRADER,
  TRADER,
  type OrdersWorld,
} from './testing/ordersWorld.ts'
import { reverted, uint } from './testing/scriptedNode.ts'
import { updateOrder } from './updateOrder.ts'
import { updatePosition } from './updatePosition.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

/** The spend of `LIMIT_BODY`: 0.1 BTC at 50,000 and half of a spread of 0.04 %. */
const LIMIT_SPEND = 5_001n * 10n ** 18n

const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected

/** Decodes the trader's own call inside the delegation. */
function innerCall(transaction: PreparedTransaction | null): { functionName: string; args: readonly unknown[] } {
  const outer = decodeFunctionData({ abi: diamondAbi, data: transaction!.data as Hex })
  assert.equal(outer.functionName, 'delegatedTradingAction')
  return decodeFunctionData({ abi: diamondAbi, data: outer.args![1] as Hex }) as never
}

describe('changes of orders and positions', () => {
  let world: OrdersWorld

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
  })
  afterEach(() => world.remove())

  const create = async (body = LIMIT_BODY) => (await createOrder(world.orders, world.write(), body)).prepared.order.id
  const update = (id: string, body: object) => updateOrder(world.orders, world.write(), id as never, body)
  const cancel = (id: string) => cancelOrder(world.orders, world.write(), id as never)
  const close = (id: string, body = {}) => closePosition(world.orders, world.write(), id as never, body)
  const change = (id: string, body: object) => updatePosition(world.orders, world.write(), id as never, body)
  const spentToday = () => readSpentUsd(world.opened.store.read, 'arbitrum', AGENT, utcDayOf(world.market.nowMs))
  const storedStatus = async (id: string) => (await findOrder(world.opened.store.read, id as never))?.state?.status

  async function createOpen(): Promise<string> {
    const id = await create()
    await placed(world, id)
    return id
  }

  describe('updateOrder', () => {
    it('answers with the order as it will be, and leaves it as it is', async () => {
      const id = await createOpen()
      const trips = world.node.roundTrips()
      const { order, transaction } = await update(id, { tp: '70000' })
      assert.equal(world.node.roundTrips() - trips, 1)
      assert.deepEqual([order.status, order.price, order.tp, order.size], ['open', '50000', '70000', '0.1'])
      const { functionName, args } = innerCall(transaction)
      assert.deepEqual([functionName, args[0], args[1]], ['updateOpenOrder', 4, 50_000n * 10n ** 10n])
      assert.equal(transaction?.expiresAt, world.market.nowMs + 300_000)
      const stored = await findOrder(world.opened.store.read, id as never)
      assert.deepEqual([stored?.state?.price, stored?.state?.tp], ['50000', null])
      assert.equal((await lastAttempt(world, id)).kind, 'update')
      assert.equal(world.node.batches.at(-1)!.length, 3)
    })

    it('replaces an order at another price, and keeps its size', async () => {
      const id = await createOpen()
      const trips = world.node.roundTrips()
      const { order, transaction } = await update(id, { price: '51000' })
      assert.equal(world.node.roundTrips() - trips, 1)
      assert.deepEqual([order.status, order.price, order.size], ['open', '51000', '0.1'])
      assert.equal(innerCall(transaction).functionName, 'multicall')
      await replaced(world, id, { tradeIndex: 5, price: Price.of(51_000n * Price.one) })
      const stored = await findOrder(world.opened.store.read, id as never)
      const { status, price, size, tradeIndex } = stored!.state!
      assert.deepEqual([status, price, size, tradeIndex], ['open', '51000', '0.1', 5])
    })

    it('updates an order whose collateral also buys its size at the new price', async () => {
      const id = await createOpen()
      assert.equal(innerCall((await update(id, { price: '50001' })).transaction).functionName, 'updateOpenOrder')
    })

    it('says which approval is missing, and leaves the order resting', async () => {
      const id = await createOpen()
      world.node.simulation = reverted('0x')
      world.node.allowance = uint(500_000_000n)
      // What the order holds comes back first, so that the wallet need not hold it.
      world.node.balance = uint(11_000_000n)
      const refusal = await update(id, { price: '51000' }).catch((error: unknown) => error as ApiError)
      assert.ok(code('SIMULATION_REVERTED')(refusal))
      const { needed, approvalTx } = (refusal as ApiError).details as { needed: string; approvalTx: TransactionRequest }
      assert.equal(needed, '510.102')
      const { args } = decodeFunctionData({ abi: erc20Abi, data: approvalTx.data as Hex })
      assert.deepEqual(args, [world.orders.chain.diamond, 510_102_000n])
      assert.doesNotMatch((refusal as ApiError).message, /balance/)
      assert.equal(await storedStatus(id), 'open')
    })

    it('replaces an order of another size, and remembers which', async () => {
      const id = await createOpen()
      const { order, transaction } = await update(id, { size: '0.2' })
      assert.equal(order.size, '0.2')
      assert.equal(innerCall(transaction).functionName, 'multicall')
      const attempt = await lastAttempt(world, id)
      assert.deepEqual([attempt.kind, attempt.size], ['replace', '0.2'])
    })

    it('counts the difference of an order that becomes larger, and refuses one above the cap', async () => {
      await world.register({ scope: { ...UNLIMITED_SCOPE, dailySpendCapUsd: '15000' } })
      const id = await createOpen()
      assert.equal(await spentToday(), LIMIT_SPEND)
      await assert.rejects(update(id, { size: '0.3' }), code('SCOPE_SPEND_CAP_EXCEEDED'))
      assert.equal((await update(id, { size: '0.2' })).order.size, '0.2')
      assert.equal(await spentToday(), 2n * LIMIT_SPEND)
      // Nothing more fits, whatever the first change becomes.
      await assert.rejects(update(id, { size: '0.21' }), code('SCOPE_SPEND_CAP_EXCEEDED'))
      await replaced(world, id, { tradeIndex: 5, collateralAmount: usdc(1_000.2) })
      assert.equal(await spentToday(), 2n * LIMIT_SPEND)
      assert.equal((await update(id, { size: '0.29' })).order.size, '0.29')
      await happen(world, id, { kind: 'canceled' })
      assert.equal(await spentToday(), 0n)
    })

    it('counts the difference of a higher price too, and nothing for less', async () => {
      const id = await createOpen()
      await update(id, { price: '40000' })
      await update(id, { size: '0.05' })
      assert.equal(await spentToday(), LIMIT_SPEND)
      await update(id, { price: '55000' })
      assert.equal(await spentToday(), (LIMIT_SPEND * 11n) / 10n)
    })

    it('gives a change back that is not mined in time, and counts it from its block on when it is mined after all', async () => {
      const id = await createOpen()
      await update(id, { size: '0.2' })
      world.market.nowMs += 300_000
      await world.opened.store.transaction(TEST_SCOPE, (sql) =>
        refoldOrder(sql, id as never, world.orders.clock(), NO_JOURNAL).then(() => undefined),
      )
      assert.equal(await spentToday(), LIMIT_SPEND)
      world.market.nowMs += 86_400_000
      await replaced(world, id, { tradeIndex: 5 })
      assert.equal(await spentToday(), LIMIT_SPEND)
    })

    it('never passes the cap, however many changes are prepared at once', async () => {
      await world.register({ scope: { ...UNLIMITED_SCOPE, dailySpendCapUsd: '26000' } })
      const ids = [await createOpen(), await createOpen(), await createOpen()]
      const outcomes = await Promise.allSettled(ids.map((id) => update(id, { size: '0.2' })))
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2)
      assert.equal(await spentToday(), 5n * LIMIT_SPEND)
    })

    it('counts a larger order for the agent that made it larger, also an order made elsewhere', async () => {
      const id = await createOpen()
      await world.opened.store.transaction(TEST_SCOPE, (sql) =>
        sql.run('update orders set agent = null, spend_usd = 0, spend_day = null'),
      )
      const before = await spentToday()
      await update(id, { size: '0.2' })
      // The order may stay as large as it was found: 5,000 USD, without spread.
      assert.equal((await spentToday()) - before, 2n * LIMIT_SPEND - 5_000n * 10n ** 18n)
    })

    it('refuses an order that is not resting, not there, or somebody else\u2019s', async () => {
      const id = await create()
      await assert.rejects(update(id, { price: '51000' }), code('ORDER_NOT_MODIFIABLE'))
      await assert.rejects(update('99', { price: '51000' }), code('ORDER_NOT_FOUND'))
      await assert.rejects(updateOrder(world.orders, world.write(), undefined, {}), code('ORDER_NOT_FOUND'))
      await world.register({ agent: OTHER_AGENT, trader: OTHER_TRADER })
      world.node.delegate = OTHER_AGENT
      const strange = updateOrder(world.orders, world.write(OTHER_AGENT), id as never, { price: '51000' })
      await assert.rejects(strange, code('ORDER_NOT_FOUND'))
      world.node.delegate = AGENT
      await placed(world, id)
      await assert.rejects(update(id, {}), code('VALIDATION_ERROR'))
    })

    it('refuses when the order moved on while the node was asked', async () => {
      const id = await createOpen()
      world.node.whileAsked = () => happen(world, id, { kind: 'canceled' })
      await assert.rejects(update(id, { price: '51000' }), code('ORDER_NOT_MODIFIABLE'))
      world.node.whileAsked = () => undefined
      const other = await createOpen()
      const terms = { price: Price.of(52_000n * Price.one), sl: Price.zero, tp: Price.zero, slippageP: 1_000 }
      world.node.whileAsked = () => happen(world, other, { kind: 'updated', ...terms })
      await assert.rejects(update(other, { tp: '90000' }), code('ORDER_NOT_MODIFIABLE'))
      const attempts = await listAttempts(world.opened.store.read, other as never)
      assert.deepEqual(
        attempts.map(({ kind }) => kind),
        ['open'],
      )
    })

    it('keeps nothing of a change that would revert', async () => {
      const id = await createOpen()
      world.node.simulation = reverted('0x')
      await assert.rejects(update(id, { price: '51000' }), code('SIMULATION_REVERTED'))
      assert.equal((await lastAttempt(world, id)).kind, 'open')
    })
  })

  describe('cancelOrder', () => {
    it('withdraws a prepared order at once, with nothing for the chain', async () => {
      const id = await create()
      assert.equal(await spentToday(), LIMIT_SPEND)
      const trips = world.node.roundTrips()
      const { order, transaction } = await cancel(id)
      assert.deepEqual([order.status, transaction, order.expiresAt], ['expired', null, null])
      assert.equal(await spentToday(), 0n)
      assert.equal(world.node.roundTrips(), trips)
      assert.equal(world.changes.at(-1)?.after?.status, 'expired')
      await assert.rejects(cancel(id), code('ORDER_NOT_MODIFIABLE'))
    })

    it('proves nothing of an agent while the node is away and nobody looked at the delegate', async () => {
      const { register, orders, node, market } = world
      const now = (): number => market.nowMs
      const delegates = createDelegates({ client: node, diamond: orders.chain.diamond, maxAgeMs: 1, now })
      const standing = async () => (await findAgent(world.opened.store.read, 'arbitrum', AGENT))?.standing
      for (const [isAway, expected] of [
        [true, 'seen'],
        [false, 'used'],
      ] as const) {
        node.isAway = false
        const id = await create()
        await register({ standing: 'claimed' })
        node.isAway = isAway
        await cancelOrder({ ...orders, delegates }, world.write(), id as never)
        assert.equal(await standing(), expected)
      }
    })

    it('withdraws also while the node is away', async () => {
      const id = await create()
      world.node.isAway = true
      world.market.nowMs += 5_000
      assert.equal((await cancel(id)).order.status, 'expired')
    })

    it('does not withdraw what has expired by the clock, or was sent meanwhile', async () => {
      const id = await create()
      world.market.nowMs += 300_000
      assert.equal(await storedStatus(id), 'prepared')
      await assert.rejects(cancel(id), code('ORDER_NOT_MODIFIABLE'))
    })

    it('cancels a resting order by its transaction', async () => {
      const id = await createOpen()
      const { order, transaction } = await cancel(id)
      assert.equal(order.status, 'open')
      assert.deepEqual(innerCall(transaction), { functionName: 'cancelOpenOrder', args: [4] })
      await happen(world, id, { kind: 'canceled' })
      assert.equal(await storedStatus(id), 'canceled')
    })

    it('refuses a market request before the oracle\u2019s timeout and reclaims it after', async () => {
      const id = await create(MARKET_BODY)
      await happen(world, id, { kind: 'requested', pendingIndex: 3, tradeIndex: 0 }, 'pending:3')
      await assert.rejects(cancel(id), code('ORDER_NOT_MODIFIABLE'))
      world.headBlock += 200
      const { order, transaction } = await cancel(id)
      assert.equal(order.status, 'timed_out')
      assert.deepEqual(innerCall(transaction), { functionName: 'cancelOrderAfterTimeout', args: [3] })
      assert.equal((await lastAttempt(world, id)).kind, 'reclaim')
    })

    it('refuses a reclaim that the oracle\u2019s late answer made pointless', async () => {
      const id = await create(MARKET_BODY)
      await happen(world, id, { kind: 'requested', pendingIndex: 3, tradeIndex: 0 }, 'pending:3')
      world.headBlock += 200
      world.node.whileAsked = () => happen(world, id, { kind: 'refused', pendingIndex: 3, reason: 'SLIPPAGE' })
      await assert.rejects(cancel(id), code('ORDER_NOT_MODIFIABLE'))
      assert.equal(await storedStatus(id), 'rejected')
    })

    it('keeps to the markets of the scope', async () => {
      const id = await create()
      await world.register({ scope: { ...UNLIMITED_SCOPE, markets: ['EUR/USD'] } })
      await assert.rejects(cancel(id), code('SCOPE_MARKET_NOT_ALLOWED'))
    })
  })

  describe('positions', () => {
    const own = (id = '7') => {
      const { record, state } = positionOf({}, id)
      return { record: { ...record, chain: 'arbitrum', trader: TRADER } as const, state }
    }

    it('are closed by an order of its own', async () => {
      world.positions.push(own())
      const trips = world.node.roundTrips()
      const { order, transaction } = await close('7')
      assert.equal(world.node.roundTrips() - trips, 1)
      assert.deepEqual([order.status, order.side, order.reduceOnly], ['prepared', 'short', true])
      assert.equal(innerCall(transaction).functionName, 'closeTradeMarket')
      assert.equal(await spentToday(), 0n)
      const stored = await findOrder(world.opened.store.read, order.id as never)
      assert.deepEqual(
        stored?.record.request.legs.map(({ positionId }) => positionId),
        ['7'],
      )
    })

    it('are closed by a reduce-only order, which can be repeated', async () => {
      world.positions.push(own())
      const body = { ...MARKET_BODY, side: 'short', reduceOnly: true, size: '1', leverage: '2', clientId: 'r' } as const
      const first = await createOrder(world.orders, world.write(), body)
      const again = await createOrder(world.orders, world.write(), body)
      assert.deepEqual([again.isRepeat, again.prepared], [true, first.prepared])
      // After the first position is gone, the same order is prepared for the position that exists now.
      world.positions.splice(0, 1, own('8'))
      world.market.nowMs += 60_000
      world.market.quotes.set(0, { ...world.market.quotes.get(0)!, updatedAtMs: world.market.nowMs })
      const later = await createOrder(world.orders, world.write(), body)
      assert.equal(later.prepared.order.id, first.prepared.order.id)
      const stored = await findOrder(world.opened.store.read, later.prepared.order.id as never)
      assert.deepEqual(
        stored?.record.request.legs.map(({ positionId }) => positionId),
        ['8'],
      )
    })

    it('of somebody else are not there', async () => {
      const { record, state } = own()
      world.positions.push({ record: { ...record, trader: OTHER_TRADER }, state })
      await assert.rejects(close('7'), code('POSITION_NOT_FOUND'))
      await assert.rejects(change('7', { tp: '70000' }), code('POSITION_NOT_FOUND'))
      await assert.rejects(closePosition(world.orders, world.write(), undefined, {}), code('POSITION_NOT_FOUND'))
    })

    it('are changed without an order, but not twice with one nonce', async () => {
      world.positions.push(own())
      const write = world.write()
      const before = world.transactions
      const { position, transaction } = await updatePosition(world.orders, write, '7' as never, { tp: '70000' })
      assert.equal(world.transactions - before, 1)
      assert.deepEqual([position.tp, position.sl], [String(70_000n * 10n ** 10n), '0'])
      assert.equal(innerCall(transaction).functionName, 'updateTp')
      await assert.rejects(updatePosition(world.orders, write, '7' as never, { tp: '70000' }), code('NONCE_REUSED'))
      assert.equal(await findOrder(world.opened.store.read, '1' as never), undefined)
    })

    it('are not changed by an agent that is revoked meanwhile', async () => {
      world.positions.push(own())
      world.node.whileAsked = async () => void (await world.register({ revoked: true }))
      await assert.rejects(change('7', { tp: '70000' }), code('AGENT_REVOKED'))
    })
  })

  it('counts a withdrawn order that is mined all the same, on the day of its block', async () => {
    const id = await create()
    await cancel(id)
    assert.equal(await spentToday(), 0n)
    await placed(world, id)
    assert.equal(await storedStatus(id), 'open')
    assert.equal(await spentToday(), LIMIT_SPEND)
  })
})
