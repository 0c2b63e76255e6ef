import type { LoggedEvent } from '../store/accountEventStore.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address, Order } from '@bezel/protocol'
import fc from 'fast-check'
import { openTestLog } from '../journal/testing/testLog.ts'
import type { Store } from '../store/sql.ts'
import { findOrder } from '../store/orderStore.ts'
import { orderAnswer } from '../trading/orders/orderModel.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import { BOB, CHAIN, executed, feesProcessed, ORACLE, requested, stored, tradeClosed } from './testing/handMade.ts'

type Step = 'open' | 'close' | 'empty' | 'follow' | { readonly rewind: number }

/** Makes a chain on which a trader opens and closes trades. */
function createTrades(fake: FollowedFake) {
  let next = 0
  const steps = {
    open() {
      const index = next++
      fake.node.mine({ from: BOB, events: [requested({ index: 2 * index, trade: { index } })] })
      fake.node.mine({
        from: ORACLE,
        events: [stored({ index }), feesProcessed(), executed({ pendingIndex: 2 * index, trade: { index } })],
      })
    },
    close() {
      const index = Math.max(0, next - 1)
      fake.node.mine({ from: BOB, events: [requested({ index: 2 * index + 1, orderType: 1, trade: { index } })] })
      fake.node.mine({
        from: ORACLE,
        events: [
          feesProcessed(1),
          tradeClosed(index),
          executed({ pendingIndex: 2 * index + 1, open: false, trade: { index } }),
        ],
      })
    },
    empty: () => void fake.node.mine({ from: BOB }),
  }
  return async (step: Step): Promise<void> => {
    if (step === 'follow') return fake.follow()
    if (typeof step === 'string') return steps[step]()
    // Catches up first, so that the rewind is no deeper than can be undone.
    await fake.follow()
    fake.node.rewind(step.rewind)
    // Mines more blocks than were dropped, otherwise the node would only be behind.
    for (let i = 0; i <= step.rewind; i += 1) fake.node.mine({ from: ORACLE })
  }
}

async function traders(store: Store): Promise<Address[]> {
  return (await store.read.all<{ trader: Address }>('select trader from account_logs')).map(({ trader }) => trader)
}

/** Returns the last known value of each order or fill to a reader of the whole log. */
function believed(events: readonly LoggedEvent[], channel: 'orders' | 'fills'): Map<string, string> {
  const last = new Map<string, string>()
  for (const event of events) {
    if (event.channel === channel) last.set((JSON.parse(event.data) as Order).id, event.data)
  }
  return last
}

async function expectTold(store: Store, trader: Address): Promise<void> {
  const events = await openTestLog(store, CHAIN).read(trader, { after: 0, limit: 100_000 })
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, at) => at + 1),
  )
  const orders = believed(events, 'orders')
  for (const [id, data] of orders) {
    const { record, state } = (await findOrder(store.read, id as never))!
    if (state === undefined) assert.equal((JSON.parse(data) as Order).status, 'expired')
    else assert.equal(data, JSON.stringify(orderAnswer(record, state)))
  }
  for (const [id, data] of believed(events, 'fills')) {
    const isFilled = (JSON.parse(data) as Order).status === 'filled'
    assert.equal(isFilled, (JSON.parse(orders.get(id)!) as Order).status === 'filled')
  }
  const shown = await store.read.all<{ id: bigint }>(
    'select id from orders where chain = $1 and trader = $2 and state is not null',
    CHAIN,
    trader,
  )
  for (const { id } of shown) assert.ok(orders.has(String(id)), 'a read shows nothing that no event has told')
}

describe('what the follower tells the log', () => {
  it('is the story of a trade, in the order in which it happened', async () => {
    const fake = await openFollowedFake()
    const take = createTrades(fake)
    for (const step of ['open', 'close', 'follow'] as const) await take(step)
    const [trader] = await traders(fake.opened.store)
    const events = await openTestLog(fake.opened.store, CHAIN).read(trader!, { after: 0, limit: 100 })
    assert.deepEqual(
      events.map(({ channel, block, isReverted, data }) => [
        channel,
        block,
        isReverted,
        channel === 'positions' ? (JSON.parse(data) as string[]).length : (JSON.parse(data) as Order).status,
      ]),
      [
        ['orders', 0, false, 'pending'],
        ['orders', 1, false, 'filled'],
        ['fills', 1, false, 'filled'],
        ['positions', 1, false, 1],
        ['orders', 2, false, 'pending'],
        ['orders', 3, false, 'filled'],
        ['fills', 3, false, 'filled'],
        ['positions', 3, false, 0],
      ],
    )
    await fake.opened.remove()
  })

  it('ends, for whoever reads all of it, with what the reads show, whatever was reorganised', async () => {
    const step = fc.oneof(
      fc.constantFrom<Step>('open', 'close', 'empty', 'follow', 'follow'),
      fc.record({ rewind: fc.integer({ min: 1, max: 6 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
        const fake = await openFollowedFake()
        const take = createTrades(fake)
        for (let i = 0; i < 10; i += 1) await take('empty')
        for (const one of steps) await take(one)
        await take('follow')
        for (const trader of await traders(fake.opened.store)) await expectTold(fake.opened.store, trader)
        await fake.opened.remove()
      }),
      { numRuns: 40 },
    )
  })
})
