import type {
  Attempt,
  OrderChange,
  FoldClock,
  OrderEvent,
  OrderRecord,
  OrderState,
} from '../trading/orders/orderModel.ts'
import { Usd, type OrderId } from '@bezel/protocol'
import type { Journal } from './accountLog.ts'
import { isDeepStrictEqual } from 'node:util'
import { listAttempts } from '../store/attemptStore.ts'
import { listOrderEvents } from '../store/orderEventStore.ts'
import { findOrder, saveOrderState, type StoredOrder } from '../store/orderStore.ts'
import { addSpend } from '../store/agentStore.ts'
import { listCharges, setChargeDay, type StoredCharge } from '../store/changeChargeStore.ts'
import type { Sql } from '../store/sql.ts'
import { changeCountedSince, isCounted, type ChangedOrder } from '../trading/orders/countedSpend.ts'
import { foldOrder } from '../trading/orders/foldOrder.ts'
import { utcDayOf } from '../trading/scope.ts'
import type { PositionChange, PositionState } from '../trading/positions/positionModel.ts'
import { findPosition, listPositionEvents, savePositionState, type StoredPosition } from '../store/positionStore.ts'
import { foldPosition } from '../trading/positions/foldPosition.ts'
import { atClock } from '../trading/positions/pendingUpdate.ts'

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
  return foldStoredOrder(sql, await readStoredOrder(sql, id), clock, journal)
}

/** Everything stored about an order. */
export interface WholeOrder {
  readonly stored: StoredOrder
  readonly attempts: readonly Attempt[]
  readonly events: readonly OrderEvent[]
  /** Charges of the changes that make it larger. */
  readonly charges: readonly StoredCharge[]
}

/** Reads everything about an order. Throws when there is none. */
export async function readStoredOrder(sql: Sql, id: OrderId): Promise<WholeOrder> {
  const [stored, attempts, events] = await Promise.all([
    findOrder(sql, id),
    listAttempts(sql, id),
    listOrderEvents(sql, id),
  ])
  if (stored === undefined) throw new Error(`order ${id} is not in the store`)
  const charges = attempts.some(isChange) ? await listCharges(sql, id) : []
  return { stored, attempts, events, charges }
}

const isChange = ({ kind }: Attempt): boolean => kind === 'replace'

/** Folds an order that was read in this transaction, and saves it as `refoldOrder` does. */
export async function foldStoredOrder(
  sql: Sql,
  { stored, attempts, events, charges }: WholeOrder,
  clock: FoldClock,
  journal: Pick<Journal, 'order'>,
): Promise<OrderChange | undefined> {
  const state = foldOrder(stored.record, attempts, events, clock)
  await settleChanges(sql, stored.record, { order: { state, attempts, events }, charges }, clock.nowMs)
  return keepOrder(sql, stored, state, clock, journal)
}

/** Folds orders again, which are read together. */
export async function refoldOrders(
  sql: Sql,
  ids: readonly OrderId[],
  clock: FoldClock,
  journal: Pick<Journal, 'order'>,
): Promise<void> {
  const wholes = await Promise.all(ids.map((id) => readStoredOrder(sql, id)))
  for (const whole of wholes) await foldStoredOrder(sql, whole, clock, journal)
}

/** Everything of an order that this transaction created. */
interface NewOrder {
  readonly record: OrderRecord
  readonly attempts: readonly Attempt[]
  readonly events: readonly OrderEvent[]
}

/** Folds an order that this transaction created. All its data is at hand, so nothing is read. */
export async function foldNewOrder(
  sql: Sql,
  { record, attempts, events }: NewOrder,
  clock: FoldClock,
  journal: Pick<Journal, 'order'>,
): Promise<OrderChange | undefined> {
  const stored = { record, state: undefined, spendDay: undefined }
  return keepOrder(sql, stored, foldOrder(record, attempts, events, clock), clock, journal)
}

async function keepOrder(
  sql: Sql,
  stored: StoredOrder,
  folded: OrderState | undefined,
  clock: FoldClock,
  journal: Pick<Journal, 'order'>,
): Promise<OrderChange | undefined> {
  const { record, state: before } = stored
  const after = folded && withTimeoutTime(folded, before, clock)
  const spendDay = await settleSpend(sql, stored, after)
  if (spendDay === stored.spendDay && isDeepStrictEqual(before, after)) return undefined
  await saveOrderState(sql, record.id, after, spendDay)
  const change = { record, before, after }
  journal.order(change)
  return change
}

/**
 * Returns a timed-out state with the time at which it was seen first. No event tells of a timeout, so the time is that
 * of the block at which the order was found to be due, and stays as it is afterwards. A chain counts seconds and may be
 * behind the service's clock, which stands in where the block is earlier than the last change.
 */
function withTimeoutTime(state: OrderState, before: OrderState | undefined, { headMs, nowMs }: FoldClock): OrderState {
  if (state.status !== 'timed_out') return state
  const foundAtMs = headMs >= state.updatedAtMs ? headMs : nowMs
  const seenAtMs = before?.status === 'timed_out' ? before.updatedAtMs : foundAtMs
  return { ...state, updatedAtMs: Math.max(state.updatedAtMs, seenAtMs) }
}

/** Settles what an order was made with. Returns the day on which it counts, `undefined` when it does not. */
async function settleSpend(
  sql: Sql,
  { record, spendDay }: StoredOrder,
  after: OrderState | undefined,
): Promise<number | undefined> {
  const { chain, agent, spendUsd } = record
  if (agent === null || spendUsd === 0n) return undefined
  const since = isCounted(after) ? after.countedSinceMs : undefined
  return settleCharge(sql, { chain, agent, usd: spendUsd, day: spendDay }, since)
}

/** Charges and refunds the changes that make an order larger, each by itself. */
async function settleChanges(
  sql: Sql,
  { chain }: OrderRecord,
  { order, charges }: { readonly order: ChangedOrder; readonly charges: readonly StoredCharge[] },
  nowMs: number,
): Promise<void> {
  const changes = order.attempts.filter(isChange)
  for (const { attemptId, agent, usd, day: before } of charges) {
    const attempt = changes.find((change) => change.id === attemptId)
    const since = attempt === undefined ? undefined : changeCountedSince(attempt, order, nowMs)
    const day = await settleCharge(sql, { chain, agent, usd, day: before }, since)
    if (day !== before) await setChargeDay(sql, attemptId, day)
  }
}

/**
 * Charges an amount that counts now, from `sinceMs` on, and did not before; refunds one that no longer counts, to the
 * day it was charged to. Returns the day on which it counts, `undefined` when it does not.
 */
async function settleCharge(
  sql: Sql,
  { day, ...of }: Pick<StoredCharge, 'agent' | 'usd' | 'day'> & Pick<OrderRecord, 'chain'>,
  sinceMs: number | undefined,
): Promise<number | undefined> {
  if ((sinceMs !== undefined) === (day !== undefined)) return day
  if (day !== undefined) {
    await addSpend(sql, { ...of, day, usd: Usd.of(-of.usd) })
    return undefined
  }
  const charged = utcDayOf(sinceMs!)
  await addSpend(sql, { ...of, day: charged })
  return charged
}

/** Folds orders with the clock and the journal of one transaction. */
export interface Refolds {
  /** Folds an order again and returns its state. */
  of(id: OrderId): Promise<OrderState>
  /** Folds an order that this transaction stored with one attempt, which is as it was stored, and returns its state. */
  ofNew(record: OrderRecord, attempt: Attempt): Promise<OrderState>
}

export function startRefolds(sql: Sql, clock: FoldClock, journal: Journal): Refolds {
  return {
    async of(id) {
      const whole = await readStoredOrder(sql, id)
      const change = await foldStoredOrder(sql, whole, clock, journal)
      return stateOf(id, change === undefined ? whole.stored.state : change.after)
    },
    async ofNew(record, attempt) {
      const change = await foldNewOrder(sql, { record, attempts: [attempt], events: [] }, clock, journal)
      return stateOf(record.id, change?.after)
    },
  }
}

function stateOf(id: OrderId, state: OrderState | undefined): OrderState {
  if (state === undefined) throw new Error(`order ${id} has an attempt and yet no state`)
  return state
}

/**
 * Computes a position's state from all its events and saves it. Reports a change to the journal and returns it;
 * `undefined` when nothing changed.
 */
export async function refoldPosition(
  sql: Sql,
  id: OrderId,
  clock: FoldClock,
  journal: Pick<Journal, 'position'>,
): Promise<PositionChange | undefined> {
  const stored = await findPosition(sql, id)
  if (stored === undefined) throw new Error(`position ${id} is not in the store`)
  return keepPosition(sql, stored, foldPosition(await listPositionEvents(sql, id)), clock, journal)
}

/**
 * Saves a position's state that the caller has folded, with the timeout of its pending change as of `clock`. Returns
 * the change; `undefined` when nothing changed.
 */
export async function keepPosition(
  sql: Sql,
  { record, state: before }: StoredPosition,
  folded: PositionState | undefined,
  clock: FoldClock,
  journal: Pick<Journal, 'position'>,
): Promise<PositionChange | undefined> {
  const after = folded && atClock(folded, clock)
  if (isDeepStrictEqual(before, after)) return undefined
  await savePositionState(sql, record.id, after)
  const change = { record, before, after }
  journal.position(change)
  return change
}
