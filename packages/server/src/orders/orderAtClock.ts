import { ApiError, type OrderId } from '@bezel/protocol'
import { listAttempts } from '../store/attemptStore.ts'
import { listOrderEvents } from '../store/orderEventStore.ts'
import { findOrder, type StoredOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import { foldOrder } from '../trading/orders/foldOrder.ts'
import type { Attempt, FoldClock, OrderEvent, OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import type { SignedWrite } from './signedWrite.ts'

/** An order with its state at a given time and the data that the state is folded from. */
export interface OrderAtClock {
  readonly record: OrderRecord
  readonly state: OrderState
  readonly attempts: readonly Attempt[]
  readonly events: readonly OrderEvent[]
}

/**
 * Reads the trader's own order as of `clock`. The stored state may be moments older, and a write must not act on an
 * order that has just expired. Throws `ORDER_NOT_FOUND`, also for an order of another trader.
 */
export async function readOwnOrder(
  sql: Sql,
  { agent }: SignedWrite,
  id: OrderId | undefined,
  clock: FoldClock,
): Promise<OrderAtClock> {
  const { stored, ...parts } = id === undefined ? NO_ORDER : await readWhole(sql, id)
  const isOwn = stored?.record.chain === agent.chain && stored.record.trader === agent.trader
  const order = isOwn ? foldAt(stored.record, parts, clock) : undefined
  if (order === undefined) throw new ApiError('ORDER_NOT_FOUND', 'This account has no such order on this chain.')
  return order
}

/** An order as stored, with the data that its state is folded from. */
interface WholeOrder extends Pick<OrderAtClock, 'attempts' | 'events'> {
  readonly stored: StoredOrder | undefined
}

const NO_ORDER: WholeOrder = { stored: undefined, attempts: [], events: [] }

async function readWhole(sql: Sql, id: OrderId): Promise<WholeOrder> {
  const [stored, attempts, events] = await Promise.all([
    findOrder(sql, id),
    listAttempts(sql, id),
    listOrderEvents(sql, id),
  ])
  return { stored, attempts, events }
}

/** Folds an order as of `clock`; `undefined` when it was found on blocks since undone and does not exist now. */
export async function readOrderAtClock(
  sql: Sql,
  { record }: StoredOrder,
  clock: FoldClock,
): Promise<OrderAtClock | undefined> {
  const [attempts, events] = await Promise.all([listAttempts(sql, record.id), listOrderEvents(sql, record.id)])
  return foldAt(record, { attempts, events }, clock)
}

function foldAt(
  record: OrderRecord,
  { attempts, events }: Pick<OrderAtClock, 'attempts' | 'events'>,
  clock: FoldClock,
): OrderAtClock | undefined {
  const state = foldOrder(record, attempts, events, clock)
  return state === undefined ? undefined : { record, state, attempts, events }
}
