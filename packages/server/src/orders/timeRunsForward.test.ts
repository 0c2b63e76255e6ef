import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { runRound } from '../journal/clock.ts'
import { openTestLog } from '../journal/testing/testLog.ts'
import { readSpentUsd } from '../store/agentStore.ts'
import { insertBlock } from '../store/blockStore.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'
import { utcDayOf } from '../trading/scope.ts'
import { createOrder } from './createOrder.ts'
import { happen, hashOf } from './testing/chainEvents.ts'
import { AGENT, LIMIT_BODY, MARKET_BODY, openOrdersWorld, TRADER, type OrdersWorld } from './testing/ordersWorld.ts'

/** The time for which a resting order is prepared, in the orders' world. */
const PREPARED_MS = 300_000

/** A step of the clock, as a correction of the machine's time makes it. */
const STEP_MS = 60_000

const CLIENT_ID = 'once'

describe('time and head of a fold', () => {
  let world: OrdersWorld

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
  })
  afterEach(() => world.remove())

  const ask = async (body = LIMIT_BODY) => {
    const { prepared } = await createOrder(world.orders, world.write(), { ...body, clientId: CLIENT_ID })
    return prepared.order
  }

  /** Sets the clock, with a price of that time. */
  function step(ms: number): void {
    world.market.nowMs += ms
    world.market.quotes.set(0, { ...world.market.quotes.get(0)!, updatedAtMs: world.market.nowMs })
  }

  async function round(): Promise<void> {
    const { chain, store, accountLog, clock } = world.orders
    await runRound({ chain: chain.slug, store, accountLog, clock, onError: assert.ifError })
  }

  /** Reads what the log of the account tells of the orders' statuses, and the times at which it tells it. */
  async function told(): Promise<{ readonly statuses: unknown[]; readonly times: number[] }> {
    const log = openTestLog(world.opened.store, 'arbitrum')
    const events = await log.read(TRADER, { after: 0, limit: 100 })
    const ofOrders = events.filter(({ channel }) => channel === 'orders')
    return {
      statuses: ofOrders.map(({ data }) => (JSON.parse(data) as { status: string }).status),
      times: events.map(({ timestampMs }) => timestampMs),
    }
  }

  const spent = async () => readSpentUsd(world.opened.store.read, 'arbitrum', AGENT, utcDayOf(world.market.nowMs))

  for (const { name, change } of [
    { name: 'in the same process', change: async () => {} },
    { name: 'in another process', change: () => world.restart() },
  ]) {
    it(`never prepares an expired order again, and charges it once, after the clock was set back ${name}`, async () => {
      await ask()
      assert.notEqual(await spent(), 0n)
      step(PREPARED_MS)
      await round()
      step(-STEP_MS)
      await change()
      const again = await ask()
      assert.equal(again.status, 'expired')
      const { statuses, times } = await told()
      assert.deepEqual(statuses, ['prepared', 'expired'])
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      )
      assert.equal(await spent(), 0n)
    })
  }

  it('keeps what expired while the clock was ahead, and what it is prepared with then lives its time', async () => {
    const { id } = await ask()
    step(PREPARED_MS + STEP_MS)
    await round()
    step(-STEP_MS - 1)
    assert.equal((await ask()).status, 'expired')
    // The own clock knows of the last commit by now, so that a new transaction is not born expired.
    step(STEP_MS + 1)
    const renewed = await ask()
    assert.deepEqual([renewed.id, renewed.status], [id, 'prepared'])
    assert.deepEqual((await told()).statuses, ['prepared', 'expired', 'prepared'])
  })

  it('never takes a timeout back where its own head is behind the stored one', async () => {
    const { id } = await ask(MARKET_BODY)
    await happen(world, id, { kind: 'requested', pendingIndex: 3, tradeIndex: 0 }, 'pending:3')
    const [behind, ahead] = [world.headBlock, world.headBlock + 300]
    await world.opened.store.transaction(TEST_SCOPE, (sql) =>
      insertBlock(sql, 'arbitrum', {
        number: ahead,
        hash: hashOf(ahead),
        parentHash: hashOf(ahead - 1),
        timestampMs: world.market.nowMs,
      }),
    )
    world.headBlock = ahead
    await round()
    world.headBlock = behind
    assert.equal((await ask(MARKET_BODY)).status, 'timed_out')
    assert.deepEqual((await told()).statuses, ['prepared', 'timed_out'])
  })
})
