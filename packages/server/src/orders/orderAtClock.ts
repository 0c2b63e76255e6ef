import { ApiError, type OrderId } from '@bezel/protocol'
import { attemptsOf } from '../store/attemptStore.ts'
import { orderEventsOf } from '../store/orderEventStore.ts'
import { findOrder, type StoredOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import { foldOrder } from '../trading/orders/foldOrder.ts'
import type { Attempt, FoldClock, OrderEvent, OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import type { SignedWrite } from './signedWrite.ts'

/** An order with all it is made of. */
export interface OrderAtClock {
  readonly record: OrderRecord
  readonly state: OrderState
  readonly attempts: readonly Attempt[]
  readonly events: readonly OrderEvent[]
}

/**
 * The trader's own order as it is at this moment: the stored state may be moments behind the clock, and a write must not act on an order
 * that has just expired. Throws `ORDER_NOT_FOUND`, also for an order of somebody else.
 */
export async function ownOrder(
  sql: Sql,
  { agent }: SignedWrite,
  id: OrderId | undefined,
  clock: FoldClock,
): Promise<OrderAtClock> {
  const stored = id === undefined ? undefined : await findOrder(sql, id)
  const isOwn = stored?.record.chain === agent.chain && stored.record.trader === agent.trader
  const order = isOwn ? await orderAtClock(sql, stored, clock) : undefined
  if (order === undefined) throw new ApiError('ORDER_NOT_FOUND', 'This account has no such order on this chain.')
  return order
}

/** `undefined`: the chain no longer knows it, so it does not exist now. */
export async function orderAtClock(
  sql: Sql,
  { record }: StoredOrder,
  clock: FoldClock,
): Promise<OrderAtClock | undefined> {
  const attempts = await attemptsOf(sql, record.id)
  const events = await orderEventsOf(sql, record.id)
  const state = foldOrder(record, attempts, events, clock)
  return state === undefined ? undefined : { record, state, attempts, events }
}
