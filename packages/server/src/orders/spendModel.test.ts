import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import fc from 'fast-check'
import { diamondAbi, type Fill, type Hex, type OrderId, type Price } from '@bezel/protocol'
import { decodeFunctionData } from 'viem'
import { refoldOrder } from '../journal/refold.ts'
import { NO_JOURNAL } from '../journal/testing/testLog.ts'
import { listAttempts } from '../store/attemptStore.ts'
import { listCharges } from '../store/changeChargeStore.ts'
import { listOrderEvents } from '../store/orderEventStore.ts'
import { listDueOrders, listOrders, type StoredOrder } from '../store/orderStore.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import { utcDayOf } from '../trading/scope.ts'
import { cancelOrder } from './cancelOrder.ts'
import { createOrder } from './createOrder.ts'
import { submitOrder } from './submitOrder.ts'
import { happen, hashOf, lastAttempt, placed, replaced } from './testing/chainEvents.ts'
import { updateOrder } from './updateOrder.ts'
import { AGENT, LIMIT_BODY, openOrdersWorld, TRADER, type OrdersWorld } from './testing/ordersWorld.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const CAP_USD = 12_000

const USD = 10n ** 18n

/** Size of an order in hundredths: one is about 500 USD. */
const size = fc.integer({ min: 1, max: 20 })
const sizeText = (hundredths: number): string => (hundredths / 100).toFixed(2)

/** Steps that may happen at any time. `of` picks the order. */
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('create' as const), size, client: fc.nat({ max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('open' as const), size }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      of: fc.nat({ max: 1 }),
      size: fc.option(size, { nil: undefined }),
      price: fc.option(fc.integer({ min: 30, max: 59 }), { nil: undefined }),
      isMined: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('cancel', 'submit', 'place', 'replace', 'fill', 'unplace', 'unplace', 'wait', 'wait'),
      of: fc.nat({ max: 3 }),
    }),
  },
)

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Runs a step and ignores refusals, which are valid outcomes. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    assert.equal((error as Error).name, 'ApiError', String(error))
  }
}

async function take(world: OrdersWorld, made: Step, n: number): Promise<void> {
  if (made.kind === 'create') {
    const body = { ...LIMIT_BODY, size: sizeText(made.size), clientId: `c${made.client}` }
    await attempt(() => createOrder(world.orders, world.write(), body))
    return
  }
  if (made.kind === 'open') {
    await attempt(async () => {
      const body = { ...LIMIT_BODY, size: sizeText(made.size) }
      const { prepared } = await createOrder(world.orders, world.write(), body)
      await placed(world, prepared.order.id)
    })
    return
  }
  const orders = await allOrders(world)
  const { record, state } = orders[made.of % Math.max(1, orders.length)] ?? {}
  if (made.kind === 'wait') await wait(world, 150_000 * made.of)
  if (record === undefined) return
  if (made.kind === 'cancel') await attempt(() => cancelOrder(world.orders, world.write(), record.id))
  if (made.kind === 'submit') {
    await attempt(() => submitOrder(world.orders, world.write(), record.id, { txHash: hashOf(5_000 + n) }))
  }
  if (made.kind === 'change') {
    const { price } = made
    const body = {
      ...(made.size === undefined ? {} : { size: sizeText(made.size) }),
      ...(price === undefined ? {} : { price: `${price}000` }),
    }
    await attempt(async () => {
      await updateOrder(world.orders, world.write(), record.id, body)
      const { kind } = await lastAttempt(world, record.id)
      if (made.isMined && kind === 'replace') await mine(world, record.id)
    })
  }
  if (made.kind === 'replace' && state?.status === 'open' && (await lastAttempt(world, record.id)).kind === 'replace') {
    await mine(world, record.id)
  }
  if (made.kind === 'fill' && state?.status === 'open') {
    await happen(world, record.id, { kind: 'executed', pendingIndex: null, fill: FILL })
  }
  if (made.kind === 'place' && state?.tradeIndex === null && state.status !== 'canceled') await placed(world, record.id)
  if (made.kind === 'unplace' && state?.status === 'open') await happen(world, record.id, { kind: 'canceled' })
}

/** Mines the last change of an order, at the price that its transaction says. */
async function mine(world: OrdersWorld, id: OrderId): Promise<void> {
  const { calldata } = await lastAttempt(world, id)
  const read = (data: Hex) => decodeFunctionData({ abi: diamondAbi, data }).args as readonly unknown[]
  const [, inner] = read(calldata)
  const [calls] = read(inner as Hex)
  const [trade] = read((calls as readonly Hex[])[1]!)
  await replaced(world, id, { price: (trade as { openPrice: Price }).openPrice })
}

const FILL: Fill = { price: '50000', size: '0.1', feeCollateral: '0', positionId: '1', timestamp: 1 } as never

/** Lets time pass, and folds what is due by then as the rounds of the clock do. The feed goes on. */
async function wait(world: OrdersWorld, ms: number): Promise<void> {
  const nowMs = (world.market.nowMs += ms)
  world.market.quotes.set(0, { ...world.market.quotes.get(0)!, updatedAtMs: nowMs })
  await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
    const due = await listDueOrders(sql, 'arbitrum', { nowMs, headBlock: -1, limit: 100 })
    for (const id of due) await refoldOrder(sql, id, world.orders.clock(), NO_JOURNAL)
  })
}

/**
 * Returns what the model says counts on a day: orders with what they were made with, and the changes that make them
 * larger with the difference, as long as they may be mined or are.
 */
async function modelSpend(world: OrdersWorld, day: number): Promise<bigint> {
  let sum = 0n
  for (const { record, state, spendDay } of await allOrders(world)) {
    if (spendDay === day) sum += record.spendUsd
    const read = world.opened.store.read
    const [attempts, events] = [await listAttempts(read, record.id), await listOrderEvents(read, record.id)]
    for (const { attemptId, usd, day: charged } of await listCharges(read, record.id)) {
      const isMined = events.some((event) => event.kind === 'placed' && event.attemptId === attemptId)
      const { expiresAtMs } = attempts.find(({ id }) => id === attemptId)!
      const isOver = ['expired', 'rejected', 'canceled'].includes(state!.status)
      if (isMined) assert.equal(charged !== undefined, !isOver, 'a mined change counts as its order does')
      if (!isMined && (state!.status !== 'open' || expiresAtMs <= world.market.nowMs)) assert.equal(charged, undefined)
      if (charged === day) sum += usd
    }
    // An order is never larger on the chain than what it counts, or counted when it was prepared.
    if (state?.status === 'open' && spendDay !== undefined) {
      const mined = (await listCharges(read, record.id)).filter(({ day: charged }) => charged !== undefined)
      const counted = mined.reduce((total, { usd }) => total + usd, record.spendUsd as bigint)
      const notional = Number(state.size) * Number(state.price)
      assert.ok(Number(counted) / 1e18 >= notional * 0.999, `${counted} for ${notional}`)
    }
  }
  return sum
}

function allOrders({ opened }: OrdersWorld): Promise<StoredOrder[]> {
  return listOrders(opened.store.read, 'arbitrum', TRADER, '9007199254740991' as never, 100)
}

describe('what counts against the cap', () => {
  it('is always the sum of the orders that count, and never more than the cap unless the chain made it so', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25, size: 'max' }), async (steps) => {
        const world = await openOrdersWorld()
        try {
          await world.register({ scope: { ...UNLIMITED_SCOPE, dailySpendCapUsd: String(CAP_USD) } })
          let isRevived = false
          for (const [n, made] of steps.entries()) {
            const before = new Map((await allOrders(world)).map((order) => [order.record.id, order.spendDay]))
            const spentBefore = await modelSpend(world, utcDayOf(world.market.nowMs))
            await take(world, made, n)
            const orders = await allOrders(world)
            isRevived ||=
              (made.kind === 'place' || made.kind === 'replace') &&
              (orders.some(({ record, spendDay }) => before.get(record.id) !== spendDay) ||
                (await modelSpend(world, utcDayOf(world.market.nowMs))) > spentBefore)
            const day = utcDayOf(world.market.nowMs)
            const sum = await modelSpend(world, day)
            assert.equal(await readSpentUsd(world.opened.store.read, 'arbitrum', AGENT, day), sum)
            assert.ok(isRevived || sum <= BigInt(CAP_USD) * USD, `${sum}`)
          }
        } finally {
          await world.remove()
        }
      }),
      { numRuns: 60 },
    )
  })
})
