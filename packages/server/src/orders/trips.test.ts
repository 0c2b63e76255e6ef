import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Address, CreateOrderRequest, OrderId } from '@bezel/protocol'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startTripCounter, type TripCounter } from '@bezel/testkit/startTripCounter.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { migrate } from '../store/openStore.ts'
import { openPostgres } from '../store/postgres.ts'
import type { Store } from '../store/sql.ts'
import { positionOf } from '../trading/plan/testing/fixtures.ts'
import { cancelOrder } from './cancelOrder.ts'
import { closePosition } from './closePosition.ts'
import { createOrder } from './createOrder.ts'
import { placed } from './testing/chainEvents.ts'
import {
  AGENT,
  LIMIT_BODY,
  MARKET_BODY,
  openOrdersWorld,
  OTHER_AGENT,
  TRADER,
  type OrdersWorld,
} from './testing/ordersWorld.ts'
import { updateOrder } from './updateOrder.ts'

/** Round trips to PostgreSQL that a new order may take, reads before its transaction included. */
const MAX_TRIPS = 5
const NEW_ORDER = { trips: 4, reads: 1 }
/** The numbers of its markets are read after the agent. */
const BOUNDED_ORDER = { trips: 5, reads: 1 }

let server: RunningPostgres
let counter: TripCounter
let store: Store
let world: OrdersWorld
/** Round trips of transactions by the store's own count. */
let told = 0

before(async () => {
  installPostgres()
  server = await startPostgres()
  await server.createDatabase('trips')
  counter = await startTripCounter(server.port)
  store = openPostgres(
    { url: server.urlOf('trips', counter.port), connections: 8, statementMs: 60_000, idleTransactionMs: 60_000 },
    { onCommit: (count) => (told += count) },
  )
  await migrate(store)
  world = await openOrdersWorld(store)
  await world.register()
})
after(async () => {
  await world?.remove()
  await store?.close()
  await counter?.close()
  await server?.remove()
})

/**
 * Makes ready and does the same thing twice, so that all statements are prepared, and counts the second time. The
 * store's own count must agree: `reads` of the trips were before the transaction.
 */
async function expectTrips<Ready>(
  of: { readonly trips: number; readonly reads: number },
  ready: (time: number) => Promise<Ready>,
  work: (made: Ready, time: number) => Promise<unknown>,
): Promise<void> {
  await work(await ready(1), 1)
  const made = await ready(2)
  const tripsBefore = counter.trips()
  told = 0
  await work(made, 2)
  assert.deepEqual({ trips: counter.trips() - tripsBefore, told }, { trips: of.trips, told: of.trips - of.reads })
}

const nothing = async (): Promise<void> => undefined
/** Number of orders so far, and numbers of trades on the chain. */
let counted = 0
const create = async (body: CreateOrderRequest, agent?: Address): Promise<OrderId> => {
  const request = { ...body, clientId: `order ${(counted += 1)}` }
  const { prepared } = await createOrder(world.orders, world.write(agent), request)
  return prepared.order.id as OrderId
}
/** Makes an order that rests on the chain. */
const rest = async (time: number): Promise<OrderId> => {
  const id = await create(LIMIT_BODY)
  await placed(world, id, { tradeIndex: (counted += 10) + time })
  return id
}

describe('round trips to PostgreSQL, seen from the network', () => {
  it('of a new order are at most 5, with a clientId, and all bounds of an agent too', async () => {
    assert.ok(NEW_ORDER.trips <= MAX_TRIPS && BOUNDED_ORDER.trips <= MAX_TRIPS)
    await expectTrips(NEW_ORDER, nothing, () => create(MARKET_BODY))
    const scope = { ...UNLIMITED_SCOPE, markets: ['BTC/USD'], dailySpendCapUsd: '1000000' }
    await world.register({ agent: OTHER_AGENT, scope })
    world.node.delegate = OTHER_AGENT
    await expectTrips(BOUNDED_ORDER, nothing, () => create(MARKET_BODY, OTHER_AGENT))
    world.node.delegate = AGENT
  })

  it('of a withdrawal, a cancellation, a change and a close are about as few', async () => {
    const cancel = (id: OrderId): Promise<unknown> => cancelOrder(world.orders, world.write(), id)
    await expectTrips({ trips: 5, reads: 1 }, () => create(LIMIT_BODY), cancel)
    await expectTrips({ trips: 5, reads: 1 }, rest, cancel)
    await expectTrips({ trips: 5, reads: 1 }, rest, (id) =>
      updateOrder(world.orders, world.write(), id, { tp: '70000' }),
    )
    // A larger order is held against the agent's cap.
    await expectTrips({ trips: 10, reads: 2 }, rest, (id) =>
      updateOrder(world.orders, world.write(), id, { size: '0.2' }),
    )
    const { record, state } = positionOf()
    world.positions.push({ record: { ...record, chain: 'arbitrum', trader: TRADER }, state })
    await expectTrips({ trips: 3, reads: 0 }, nothing, () =>
      closePosition(world.orders, world.write(), world.positions[0]!.record.id, {}),
    )
  })
})
