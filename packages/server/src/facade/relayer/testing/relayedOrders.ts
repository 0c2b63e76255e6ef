import type { Address, Hex, OrderId } from '@bezel/protocol'
import type { Changes } from '../../../journal/accountLog.ts'
import { insertAttempt } from '../../../store/attemptStore.ts'
import { insertOrder, takeId } from '../../../store/orderStore.ts'
import { insertPosition } from '../../../store/positionStore.ts'
import type { Sql } from '../../../store/sql.ts'
import type { Attempt, OrderRecord } from '../../../trading/orders/orderModel.ts'
import { settleExits } from '../exitGas.ts'
import { attemptOf, CHAIN, TRADER, type RelayWorld } from './relayWorld.ts'
import { TEST_SCOPE } from '../../../store/testing/testScope.ts'

const LASTS_MS = 600_000

/** Makes an order that opens and enqueues its transaction, in one database transaction. Throws the refusal. */
export async function placeOrder(world: RelayWorld, trader: Address = TRADER): Promise<OrderId> {
  const attempt = attemptOf({ expiresAtMs: world.nowMs + LASTS_MS, trader })
  return world.opened.store.transaction(TEST_SCOPE, async (sql) => {
    const orderId = await insertWith(sql, attempt, trader)
    await world.relaying.enqueue(sql, { attempt, trader, agent: trader, purpose: { kind: 'open', orderId } })
    return orderId
  })
}

/** Makes an order that the relayer placed before gas was set aside. */
export function insertPlaced(world: RelayWorld): Promise<OrderId> {
  return world.opened.store.transaction(TEST_SCOPE, (sql) =>
    insertWith(sql, attemptOf({ expiresAtMs: world.nowMs }), TRADER),
  )
}

async function insertWith(sql: Sql, attempt: Attempt, trader: Address): Promise<OrderId> {
  const orderId = await takeId(sql)
  await insertOrder(sql, recordOf(orderId, trader, attempt.createdAtMs))
  await insertAttempt(sql, { chain: CHAIN.slug, orderId, attempt })
  await sql.run(`update orders set status = 'prepared' where id = $1`, BigInt(orderId))
  return orderId
}

function recordOf(id: OrderId, trader: Address, createdAtMs: number): OrderRecord {
  const request = { kind: 'open', clientId: null, legs: [] } as Partial<
    OrderRecord['request']
  > as OrderRecord['request']
  const spendUsd = 0n as OrderRecord['spendUsd']
  return { id, chain: CHAIN.slug, trader, agent: trader, request, createdAtMs, originKey: null, spendUsd }
}

/** Sets the status of an order as a fold does, and what follows from it in the same transaction. */
export async function turnOrder(world: RelayWorld, id: OrderId, status: string): Promise<void> {
  await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
    await sql.run('update orders set status = $2 where id = $1', BigInt(id), status)
    await settle(sql, world, id)
  })
}

/** Fills an order: its position is open. Returns the id of the position. */
export async function fillOrder(world: RelayWorld, orderId: OrderId, trader: Address = TRADER): Promise<OrderId> {
  const id = await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
    const made = await takeId(sql)
    await insertPosition(sql, { id: made, chain: CHAIN.slug, trader, originOrderId: orderId })
    await sql.run('update positions set is_open = 1 where id = $1', BigInt(made))
    return made
  })
  await turnOrder(world, orderId, 'filled')
  return id
}

/** Closes a position, or opens it again as a reorganisation does. */
export async function turnPosition(world: RelayWorld, id: OrderId, orderId: OrderId, isOpen: boolean): Promise<void> {
  await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
    await sql.run('update positions set is_open = $2 where id = $1', BigInt(id), isOpen ? 1n : 0n)
    await settle(sql, world, orderId)
  })
}

async function settle(sql: Sql, world: RelayWorld, orderId: OrderId): Promise<void> {
  const cause = { block: 1, isReorg: false, nowMs: world.nowMs }
  const orders = [{ record: recordOf(orderId, TRADER, 0), before: undefined, after: undefined }]
  const changes: Changes = { chain: CHAIN.slug, cause, orders, positions: [], fills: [] }
  await settleExits(sql, changes)
}

/** Enqueues a way out of a position. */
export function leave(
  world: RelayWorld,
  positionId: OrderId,
  of: { readonly kind?: 'close' | 'stops' | 'cancel'; readonly trader?: Address; readonly gas?: string } = {},
): Promise<Hex> {
  const { kind = 'close', trader = TRADER } = of
  const attempt = attemptOf({ expiresAtMs: world.nowMs + LASTS_MS, trader, ...(of.gas && { gas: of.gas }) })
  return world.enqueue(attempt, trader, { purpose: { kind, positionIds: [positionId] } })
}

/** Enqueues the cancel of an order, with the attempt that the order keeps. */
export async function cancelOrder(world: RelayWorld, orderId: OrderId, trader: Address = TRADER): Promise<Hex> {
  const attempt: Attempt = { ...attemptOf({ expiresAtMs: world.nowMs + LASTS_MS, trader }), kind: 'cancel' }
  await world.opened.store.transaction(TEST_SCOPE, (sql) => insertAttempt(sql, { chain: CHAIN.slug, orderId, attempt }))
  return world.enqueue(attempt, trader, { purpose: { kind: 'cancel', orderId } })
}
