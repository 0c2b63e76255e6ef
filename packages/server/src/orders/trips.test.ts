import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { migrate } from '../store/openStore.ts'
import { openPostgres } from '../store/postgres.ts'
import type { Store } from '../store/sql.ts'
import { createOrder } from './createOrder.ts'
import { MARKET_BODY, openOrdersWorld, type OrdersWorld } from './testing/ordersWorld.ts'

/** Round trips to PostgreSQL that a new order may take, reads before its transaction included. */
const MAX_TRIPS = 16

let server: RunningPostgres
let store: Store
let world: OrdersWorld
let trips = 0

before(async () => {
  installPostgres()
  server = await startPostgres()
  const url = await server.createDatabase('trips')
  store = openPostgres(
    { url, connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 },
    { onCommit: (count) => (trips += count), onRead: () => (trips += 1) },
  )
  await migrate(store)
  world = await openOrdersWorld(store)
  await world.register()
})
after(async () => {
  await world?.remove()
  await store?.close()
  await server?.remove()
})

it('a new order takes few round trips to PostgreSQL', async () => {
  await createOrder(world.orders, world.write(), { ...MARKET_BODY, clientId: 'first' })
  trips = 0
  await createOrder(world.orders, world.write(), { ...MARKET_BODY, clientId: 'second' })
  assert.ok(trips <= MAX_TRIPS, `${trips} trips`)
})
