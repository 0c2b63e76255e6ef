import type { OrderChange, FoldClock, OrderEvent, OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import { Usd, type OrderId, type OrderStatus } from '@bezel/protocol'
import type { Journal } from './accountLog.ts'
import { isDeepStrictEqual } from 'node:util'
import { listAttempts } from '../store/attemptStore.ts'
import { listOrderEvents } from '../store/orderEventStore.ts'
import { findOrder, saveOrderState, type StoredOrder } from '../store/orderStore.ts'
import { addSpend } from '../store/agentStore.ts'
import type { Sql } from '../store/sql.ts'
import { foldOrder } from '../trading/orders/foldOrder.ts'
import { utcDayOf } from '../trading/scope.ts'
import type { PositionChange, PositionState } from '../trading/positions/positionModel.ts'
import { findPosition, listPositionEvents, savePositionState, type StoredPosition } from '../store/positionStore.ts'
import { foldPosition } from '../trading/positions/foldPosition.ts'

/** Final statuses in which an unfilled order gives its spend back. */
const UNSPENT: ReadonlySet<OrderStatus> = new Set(['expired', 'rejected', 'canceled'])

/**
 * Computes an order's state from everything stored about it, and saves it together with its charge against the daily
 * cap; nothing else writes either. Reports a change to the journal and returns it; `undefined` when nothing changed.
 */
export async function refoldOrder(
  sql: Sql,
  id: OrderId,
  clock: FoldClock,
  journal: Pick<Journal, 'order'>,
): Promise<OrderChange | undefined> {
  const stored = await findOrder(sql, id)
  if (stored === undefined) throw new Error(`order ${id} is not in the store`)
  const [attempts, events] = [await listAttempts(sql, id), await listOrderEvents(sql, id)]
  return keepOrder(sql, stored, foldOrder(stored.record, attempts, events, clock), journal)
}

/**
 * Folds an order that this transaction created from chain events, without attempts. All its data is at hand, so nothing
 * is read.
 */
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

/**
 * Charges an order that counts now and did not before; refunds one that no longer counts. Returns the day on which it
 * counts, `undefined` when it does not.
 */
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
    await addSpend(sql, { chain, agent, day: spendDay, usd: Usd.of(-spendUsd) })
    return undefined
  }
  const day = utcDayOf(after!.countedSinceMs)
  await addSpend(sql, { chain, agent, day, usd: spendUsd })
  return day
}

/** Folds orders with the clock and the journal of one transaction. */
export interface Refolds {
  /** Folds an order again and returns its state. */
  of(id: OrderId): Promise<OrderState>
}

export function startRefolds(sql: Sql, clock: FoldClock, journal: Journal): Refolds {
  return {
    async of(id) {
      const change = await refoldOrder(sql, id, clock, journal)
      const state = change === undefined ? (await findOrder(sql, id))?.state : change.after
      if (state === undefined) throw new Error(`order ${id} has an attempt and yet no state`)
      return state
    },
  }
}

/**
 * Computes a position's state from all its events and saves it. Reports a change to the journal and returns it;
 * `undefined` when nothing changed.
 */
export async function refoldPosition(
  sql: Sql,
  id: OrderId,
  journal: Pick<Journal, 'position'>,
): Promise<PositionChange | undefined> {
  const stored = await findPosition(sql, id)
  if (stored === undefined) throw new Error(`position ${id} is not in the store`)
  return keepPosition(sql, stored, foldPosition(await listPositionEvents(sql, id)), journal)
}

/** Saves a position's state that the caller has folded. Returns the change; `undefined` when nothing changed. */
export async function keepPosition(
  sql: Sql,
  { record, state: before }: StoredPosition,
  after: PositionState | undefined,
  journal: Pick<Journal, 'position'>,
): Promise<PositionChange | undefined> {
  if (isDeepStrictEqual(before, after)) return undefined
  await savePositionState(sql, record.id, after)
  const change = { record, before, after }
  journal.position(change)
  return change
}
