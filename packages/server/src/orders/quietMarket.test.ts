import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ApiError, diamondAbi, type OrderId, type PreparedTransaction, type Warning } from '@bezel/protocol'
import { decodeFunctionData, type Hex } from 'viem'
import { usd } from '../market/testing/fixtures.ts'
import { OLD_PRICE_MS } from '../trading/plan/oldPrice.ts'
import { positionOf } from '../trading/plan/testing/fixtures.ts'
import { cancelOrder } from './cancelOrder.ts'
import { closePosition } from './closePosition.ts'
import { createOrder } from './createOrder.ts'
import { placed } from './testing/chainEvents.ts'
import { LIMIT_BODY, MARKET_BODY, openOrdersWorld, TRADER, type OrdersWorld } from './testing/ordersWorld.ts'
import { updateOrder } from './updateOrder.ts'
import { updatePosition } from './updatePosition.ts'

const QUIET_MS = 60_000

/** Decodes the trader's own call inside the delegation. */
function innerCall(transaction: PreparedTransaction | null): { functionName: string; args: readonly unknown[] } {
  const outer = decodeFunctionData({ abi: diamondAbi, data: transaction!.data as Hex })
  return decodeFunctionData({ abi: diamondAbi, data: outer.args![1] as Hex }) as never
}

/** Returns the details of a refusal for want of a price. */
async function refusal(write: Promise<unknown>): Promise<unknown> {
  const error = await write.then(
    () => assert.fail('it was not refused'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ApiError && error.code === 'NOT_READY', String(error))
  return error.details
}

describe('writes in a quiet market', () => {
  let world: OrdersWorld
  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
    const { record, state } = positionOf({}, '7')
    world.positions.push({ record: { ...record, chain: 'arbitrum', trader: TRADER }, state })
  })
  afterEach(() => world.remove())

  const create = async (body: typeof MARKET_BODY) => (await createOrder(world.orders, world.write(), body)).prepared
  const close = () => closePosition(world.orders, world.write(), '7' as OrderId, {})
  const change = (body: object) => updatePosition(world.orders, world.write(), '7' as OrderId, body)
  /** Lets time pass in which BTC is silent and another market ticks. */
  const passQuietly = (ms: number): void => {
    world.market.nowMs += ms
    const { quotes, nowMs } = world.market
    quotes.set(21, { ...quotes.get(21)!, updatedAtMs: nowMs })
  }
  const codes = ({ warnings }: { readonly warnings?: readonly Warning[] | undefined }) =>
    (warnings ?? []).map(({ code }) => code)

  describe('that open', () => {
    const QUIET = { reason: 'feed_stale', market: 'BTC/USD' }

    it('go on for a minute, and then need a second witness', async () => {
      passQuietly(QUIET_MS)
      await create(MARKET_BODY)
      passQuietly(1)
      for (const body of [MARKET_BODY, LIMIT_BODY]) assert.deepEqual(await refusal(create(body)), QUIET)
      world.witnessed.set(0, usd(60_001))
      for (const body of [MARKET_BODY, LIMIT_BODY]) await create(body)
    })

    it('are sized at the price of the witness', async () => {
      const before = innerCall((await create(MARKET_BODY)).transaction)
      passQuietly(QUIET_MS + 1)
      world.witnessed.set(0, usd(60_300))
      const after = innerCall((await create(MARKET_BODY)).transaction)
      const collateralOf = ({ args }: { args: readonly unknown[] }) =>
        (args[0] as { collateralAmount: bigint }).collateralAmount
      assert.equal(collateralOf(after) * 1_000n, collateralOf(before) * 1_005n)
    })

    it('are judged at the price of the witness, too', async () => {
      passQuietly(QUIET_MS + 1)
      world.witnessed.set(0, usd(60_300))
      assert.deepEqual(codes(await create({ ...LIMIT_BODY, price: '60200' })), [], 'it rests')
      assert.deepEqual(codes(await create({ ...LIMIT_BODY, price: '60300' })), ['marketable'])
      await create({ ...MARKET_BODY, sl: '60100' })
      const reached = create({ ...LIMIT_BODY, price: '60400', sl: '60300' })
      await assert.rejects(
        reached,
        (error: unknown) =>
          error instanceof ApiError && error.code === 'UNSUPPORTED' && error.details?.['reference'] === '60300',
      )
    })

    it('are refused when the witness is further away than the slippage', async () => {
      passQuietly(QUIET_MS + 1)
      world.witnessed.set(0, usd(60_601))
      assert.deepEqual(await refusal(create(MARKET_BODY)), QUIET)
      await create({ ...MARKET_BODY, slippage: '2' })
    })

    it('are refused while the feed as a whole is stale, whatever the witness says', async () => {
      world.market.nowMs += 5_001
      world.witnessed.set(0, usd(60_000))
      assert.deepEqual(await refusal(create(MARKET_BODY)), { reason: 'feed_stale' })
    })

    it('include a new price or size of a resting order, but not its stops', async () => {
      const { order } = await create(LIMIT_BODY)
      await placed(world, order.id)
      passQuietly(QUIET_MS + 1)
      const update = (body: object) => updateOrder(world.orders, world.write(), order.id as OrderId, body)
      for (const body of [{ price: '40000' }, { size: '0.2' }]) assert.deepEqual(await refusal(update(body)), QUIET)
      await update({ tp: '70000' })
      world.witnessed.set(0, usd(60_000))
      await update({ size: '0.2' })
    })
  })

  describe('that open nothing', () => {
    it('go on with the last mark, however old, and say so from ten seconds on', async () => {
      for (const [ms, warned] of [
        [OLD_PRICE_MS, []],
        [1, ['price_old']],
        [86_400_000, ['price_old']],
      ] as const) {
        passQuietly(ms)
        const closed = await close()
        const { functionName, args } = innerCall(closed.transaction)
        assert.deepEqual([functionName, args[1]], ['closeTradeMarket', usd(60_000)])
        assert.deepEqual(codes(closed), warned)
        assert.deepEqual(codes(await change({ sl: '59000' })), warned)
        assert.deepEqual(codes(await change({ tp: '70000' })), warned)
        const reduced = await create({ ...MARKET_BODY, side: 'short', size: '0.001', reduceOnly: true })
        assert.deepEqual(codes(reduced), warned)
      }
      const [warning] = (await close()).warnings!
      assert.equal(warning!.value, '60000')
      assert.match(warning!.message, /^The last price of BTC\/USD, 60000, is 86410 s old/)
    })

    it('go on while the feed as a whole is silent', async () => {
      const { order } = await create(LIMIT_BODY)
      await placed(world, order.id)
      world.market.nowMs += 3_600_000
      assert.deepEqual(codes(await close()), ['price_old'])
      assert.deepEqual(codes(await change({ sl: '59000' })), ['price_old'])
      const canceled = await cancelOrder(world.orders, world.write(), order.id as OrderId)
      assert.equal(innerCall(canceled.transaction).functionName, 'cancelOpenOrder')
      assert.equal(canceled.warnings, undefined, 'no price has a part in it')
    })

    it('need no price for the stops of a resting order, nor to be repeated', async () => {
      const repeated = { ...LIMIT_BODY, clientId: 'c' }
      const first = await create(repeated)
      const { order } = await create(LIMIT_BODY)
      await placed(world, order.id)
      const check = async () => {
        assert.deepEqual(await create(repeated), first)
        const { warnings, transaction } = await updateOrder(world.orders, world.write(), order.id as OrderId, {
          sl: '49000',
          tp: '70000',
        })
        assert.deepEqual([innerCall(transaction).functionName, warnings], ['updateOpenOrder', undefined])
        await updateOrder(world.orders, world.write(), order.id as OrderId, { slippage: '2' })
      }
      world.market.isLagging = true
      await check()
      world.market.isLagging = false
      world.market.quotes.delete(0)
      await check()
    })

    it('need no price to take a stop away', async () => {
      world.market.quotes.delete(0)
      assert.deepEqual(codes(await change({ sl: '0', tp: '0' })), [])
      assert.deepEqual(await refusal(close()), { reason: 'feed_stale', market: 'BTC/USD' }, 'and a close needs one')
    })
  })
})
