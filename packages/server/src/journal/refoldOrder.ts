import type { OrderChange } from '../trading/orders/orderChange.ts'
import type { OrderId, OrderStatus } from '@bezel/protocol'
import type { Journal } from './accountLog.ts'
import { isDeepStrictEqual } from 'node:util'
import { attemptsOf } from '../store/attemptStore.ts'
import { orderEventsOf } from '../store/orderEventStore.ts'
import { findOrder, saveOrderState, type StoredOrder } from '../store/orderStore.ts'
import { addSpend } from '../store/spendStore.ts'
import type { Sql } from '../store/sql.ts'
import { foldOrder } from '../trading/orders/foldOrder.ts'
import type { FoldClock, OrderEvent, OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import { utcDayOf } from '../trading/spend.ts'

/** An order that ended like this, unfilled, gives its spend back. */
const UNSPENT: ReadonlySet<OrderStatus> = new Set(['expired', 'rejected', 'canceled'])

/**
 * Computes an order's state anew from everything stored about it, and keeps it together with what it counts against the cap. The only writer of
 * either. `undefined` when nothing changed; a change is told to the journal.
 */
export async function refoldOrder(
  sql: Sql,
  id: OrderId,
  clock: FoldClock,
  journal: Pick<Journal, 'order'>,
): Promise<OrderChange | undefined> {
  const stored = await findOrder(sql, id)
  if (stored === undefined) throw new Error(`order ${id} is not in the store`)
  const [attempts, events] = [await attemptsOf(sql, id), await orderEventsOf(sql, id)]
  return keepOrder(sql, stored, foldOrder(stored.record, attempts, events, clock), journal)
}

/** An order that this transaction made and nobody prepared anything for: what is stored of it is known, so nothing is read. */
export async function foldNewOrder(
  sql: Sql,
  record: OrderRecord,
  events: readonly OrderEvent[],
  clock: FoldClock,
  journal: Pick<Journal, 'order'>,
): Promise<OrderChange | undefined> {
  const stored = { record, state: undefined, spendDay: undefined }
  return keepOrder(sql, stored, foldOrder(record, [], events, clock), journal)
}

async function keepOrder(
  sql: Sql,
  stored: StoredOrder,
  after: OrderState | undefined,
  journal: Pick<Journal, 'order'>,
): Promise<OrderChange | undefined> {
  const { record, state: before } = stored
  const spendDay = await settleSpend(sql, stored, after)
  if (spendDay === stored.spendDay && isDeepStrictEqual(before, after)) return undefined
  await saveOrderState(sql, record.id, after, spendDay)
  const change = { record, before, after }
  journal.order(change)
  return change
}

/** Charges an order that counts and did not, gives back one that did and no longer does. The day it counts on, if it does. */
async function settleSpend(
  sql: Sql,
  { record, spendDay }: StoredOrder,
  after: OrderState | undefined,
): Promise<number | undefined> {
  const { chain, agent, spendUsd } = record
  if (agent === null || spendUsd === 0n) return undefined
  const counts = after !== undefined && (after.fill !== null || !UNSPENT.has(after.status))
  if (counts === (spendDay !== undefined)) return spendDay
  if (spendDay !== undefined) {
    await addSpend(sql, { chain, agent, day: spendDay, usd: -spendUsd })
    return undefined
  }
  const day = utcDayOf(after!.countedSinceMs)
  await addSpend(sql, { chain, agent, day, usd: spendUsd })
  return day
}
