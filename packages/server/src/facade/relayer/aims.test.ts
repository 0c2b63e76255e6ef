import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Hex, OrderId } from '@bezel/protocol'
import { insertOrderEvent, type OrderHandle } from '../../store/orderEventStore.ts'
import type { OrderEvent } from '../../trading/orders/orderModel.ts'
import { encodeCall } from '../../trading/plan/encodeCall.ts'
import { insertPlaced } from './testing/relayedOrders.ts'
import { attemptOf, CHAIN, openRelayWorld, TRADER, type RelayWorld } from './testing/relayWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

let world: RelayWorld
let logs = 0

beforeEach(async () => {
  world = await openRelayWorld()
  await world.settle()
})

afterEach(() => world.close())

/** Gives an order a number on the chain, as the follower does when it reads the order's event. */
async function number(orderId: OrderId, handle: OrderHandle): Promise<void> {
  logs += 1
  const place = { blockNumber: 1, blockHash: `0x${'ab'.repeat(32)}` as Hex, logIndex: logs, txHash: null }
  const event = { ...place, kind: 'placed', attemptId: null, timestampMs: 0 } as Partial<OrderEvent> as OrderEvent
  const of = { chain: CHAIN.slug, trader: TRADER, orderId, handle, event }
  await world.opened.store.transaction(TEST_SCOPE, (sql) => insertOrderEvent(sql, of))
}

/** Takes all numbers away, as the follower does when it undoes a block. */
async function undo(): Promise<void> {
  await world.opened.store.transaction(TEST_SCOPE, (sql) => sql.run('delete from order_events'))
}

/** Enqueues an action of these calls; without any, one that names nothing on the chain. */
const enqueue = (...calls: readonly Hex[]): Promise<Hex> =>
  world.enqueue(attemptOf({ expiresAtMs: world.nowMs + 600_000, ...(calls.length > 0 && { calls }) }))

/** Returns what waits for the next block: the hash of an action, or `burn`. */
const waiting = (): string[] =>
  [...world.node.mempool.values()].map(({ hash, data }) => (data.length > 2 ? hash : 'burn'))

describe('an action that a reorganisation dropped', () => {
  it('is sent again when its number still belongs to its order', async () => {
    const order = await insertPlaced(world)
    await number(order, 'trade:6')
    const cancel = await enqueue(encodeCall('cancelOpenOrder', [6]))
    await world.pass(2)
    world.node.reorg(3, 'drop')
    await world.settle()
    assert.deepEqual(waiting(), [cancel])
  })

  it('is burnt when its number belongs to another order', async () => {
    const [order, other] = [await insertPlaced(world), await insertPlaced(world)]
    await number(order, 'trade:6')
    await number(other, 'trade:7')
    await enqueue(encodeCall('cancelOpenOrder', [6]))
    const later = await enqueue()
    await world.pass(2)
    world.node.reorg(3, 'drop')
    await undo()
    await number(order, 'trade:5')
    await number(other, 'trade:6')
    await world.settle()
    assert.deepEqual(waiting(), ['burn', later])
    await world.pass(1)
    assert.equal(world.node.minedTransactions().length, 2)
  })

  it('is burnt when one of several numbers in its transaction belongs to another order, or a request does', async () => {
    const [order, other] = [await insertPlaced(world), await insertPlaced(world)]
    await number(order, 'trade:6')
    await number(order, 'pending:3')
    await enqueue(encodeCall('updateTp', [6, 1n as never]), encodeCall('updateSl', [6, 1n as never]))
    await enqueue(encodeCall('cancelOrderAfterTimeout', [3]))
    await world.pass(2)
    world.node.reorg(3, 'drop')
    await undo()
    await number(other, 'trade:6')
    await number(other, 'pending:3')
    await world.settle()
    assert.deepEqual(waiting(), ['burn', 'burn'])
  })

  it('waits for its order to be on the chain again, and later ones with it, but not for long', async () => {
    const order = await insertPlaced(world)
    await number(order, 'trade:6')
    const before = await enqueue()
    const cancel = await enqueue(encodeCall('cancelOpenOrder', [6]))
    const later = await enqueue()
    await world.pass(2)
    world.node.reorg(3, 'drop')
    await undo()
    await world.settle()
    assert.deepEqual(waiting(), [before])
    await number(order, 'trade:6')
    await world.settle()
    assert.deepEqual(waiting(), [before, cancel, later])

    await world.pass(1)
    world.node.reorg(2, 'drop')
    await undo()
    await world.settle()
    assert.deepEqual(waiting(), [before])
    await world.pass(1)
    world.nowMs += 16_000
    await world.settle()
    assert.deepEqual(waiting(), ['burn', later])
  })

  it('waits for the follower to see the reorganisation, however long that takes', async () => {
    const order = await insertPlaced(world)
    await number(order, 'trade:6')
    await enqueue(encodeCall('cancelOpenOrder', [6]))
    await world.pass(2)
    const stale = world.node.headBlock()
    world.head = () => stale
    world.node.reorg(3, 'drop')
    await world.settle()
    world.nowMs += 60_000
    await world.settle()
    assert.deepEqual(waiting(), [])
    world.head = () => world.node.headBlock()
    await world.settle()
    assert.deepEqual(
      [...world.node.mempool.values()].map(({ data }) => data.length > 2),
      [true],
      'it is sent, with a new offer',
    )
  })

  it('is judged by a process that starts anew, too', async () => {
    const [order, other] = [await insertPlaced(world), await insertPlaced(world)]
    await number(order, 'trade:6')
    await enqueue(encodeCall('closeTradeMarket', [6, 1n as never]))
    await world.pass(2)
    world.node.reorg(3, 'drop')
    await undo()
    await number(other, 'trade:6')
    world.restart()
    await world.settle()
    assert.deepEqual(waiting(), ['burn'])
  })
})
