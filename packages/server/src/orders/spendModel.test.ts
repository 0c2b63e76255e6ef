import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import fc from 'fast-check'
import { listOrders, type StoredOrder } from '../store/orderStore.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import { utcDayOf } from '../trading/scope.ts'
import { cancelOrder } from './cancelOrder.ts'
import { createOrder } from './createOrder.ts'
import { submitOrder } from './submitOrder.ts'
import { happen, hashOf, placed } from './testing/chainEvents.ts'
import { AGENT, LIMIT_BODY, openOrdersWorld, TRADER, type OrdersWorld } from './testing/ordersWorld.ts'

const CAP_USD = 12_000

const USD = 10n ** 18n

/** Steps that may happen at any time. `of` picks the order. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    size: fc.integer({ min: 1, max: 15 }),
    client: fc.nat({ max: 4 }),
  }),
  fc.record({ kind: fc.constantFrom('cancel', 'submit', 'place', 'unplace', 'wait'), of: fc.nat({ max: 6 }) }),
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
    const body = { ...LIMIT_BODY, size: `0.${made.size}`, clientId: `c${made.client}` }
    await attempt(() => createOrder(world.orders, world.write(), body))
    return
  }
  const orders = await allOrders(world)
  const { record, state } = orders[made.of % Math.max(1, orders.length)] ?? {}
  if (made.kind === 'wait') world.market.nowMs += 100_000 * made.of
  if (record === undefined) return
  if (made.kind === 'cancel') await attempt(() => cancelOrder(world.orders, world.write(), record.id))
  if (made.kind === 'submit') {
    await attempt(() => submitOrder(world.orders, world.write(), record.id, { txHash: hashOf(5_000 + n) }))
  }
  if (made.kind === 'place' && state?.tradeIndex === null && state.status !== 'canceled') await placed(world, record.id)
  if (made.kind === 'unplace' && state?.status === 'open') await happen(world, record.id, { kind: 'canceled' })
}

function allOrders({ opened }: OrdersWorld): Promise<StoredOrder[]> {
  return listOrders(opened.store.read, 'arbitrum', TRADER, '9007199254740991' as never, 100)
}

describe('what counts against the cap', () => {
  it('is always the sum of the orders that count, and never more than the cap unless the chain made it so', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const world = await openOrdersWorld()
        try {
          await world.register({ scope: { ...UNLIMITED_SCOPE, dailySpendCapUsd: String(CAP_USD) } })
          let isRevived = false
          for (const [n, made] of steps.entries()) {
            const before = new Map((await allOrders(world)).map((order) => [order.record.id, order.spendDay]))
            await take(world, made, n)
            const orders = await allOrders(world)
            isRevived ||=
              made.kind === 'place' && orders.some(({ record, spendDay }) => before.get(record.id) !== spendDay)
            const day = utcDayOf(world.market.nowMs)
            const counted = orders.filter(({ spendDay }) => spendDay === day)
            const sum = counted.reduce((total, { record }) => total + record.spendUsd, 0n)
            assert.equal(await readSpentUsd(world.opened.store.read, 'arbitrum', AGENT, day), sum)
            assert.ok(isRevived || sum <= BigInt(CAP_USD) * USD, `${sum}`)
          }
        } finally {
          await world.remove()
        }
      }),
      { numRuns: 25 },
    )
  })
})
