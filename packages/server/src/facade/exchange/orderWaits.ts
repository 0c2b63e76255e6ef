import type { OrderId } from '@bezel/protocol'
import type { CommitChanges } from '../../journal/commitBody.ts'
import type { OrderState } from '../../trading/orders/orderModel.ts'
import type { PositionState } from '../../trading/positions/positionModel.ts'

/**
 * Requests that are held until their order or position reaches a state. They learn of it from commits, without polling
 * the store.
 */
export interface OrderWaits {
  /** Resolves with the first state that `isDone`, or `undefined` on timeout. */
  wait(id: OrderId, isDone: (state: OrderState) => boolean, timeoutMs: number): Promise<OrderState | undefined>
  /** Waits for a position in the same way; a closed position is always done. Resolves with false on timeout. */
  waitPosition(id: OrderId, isDone: (state: PositionState) => boolean, timeoutMs: number): Promise<boolean>
  /** Passes on a state that a caller read, which may have been committed before the wait began. */
  tell(id: OrderId, state: OrderState | undefined): void
  /** Passes on the changes of a commit, of any writer. */
  apply(changes: Pick<CommitChanges, 'awaited' | 'positions'>): void
  /** True while a request is held for this order. */
  isAwaited(id: OrderId): boolean
  /** The number of requests that are held now. */
  readonly size: number
  /** Ends all waits as if their time were over. */
  close(): void
}

interface Waiter<State> {
  readonly isDone: (state: State) => boolean
  readonly end: (state: State | undefined) => void
}

type Waiters<State> = Map<OrderId, Set<Waiter<State>>>

export function createOrderWaits(): OrderWaits {
  const orders: Waiters<OrderState> = new Map()
  const positions: Waiters<PositionState | undefined> = new Map()
  let isClosed = false

  function tell(id: OrderId, state: OrderState | undefined): void {
    if (state !== undefined) pass(orders, id, state)
  }

  return {
    wait: (id, isDone, timeoutMs) => add(orders, id, isDone, isClosed ? 0 : timeoutMs),
    async waitPosition(id, isDone, timeoutMs) {
      let isSeen = false
      const isOver = (state: PositionState | undefined): boolean =>
        (isSeen = state === undefined || !state.isOpen || isDone(state))
      await add(positions, id, isOver, isClosed ? 0 : timeoutMs)
      return isSeen
    },
    tell,
    apply(changes) {
      for (const { record, after } of changes.awaited) tell(record.id, after)
      for (const { record, after } of changes.positions) pass(positions, record.id, after)
    },
    isAwaited: (id) => orders.has(id),
    get size() {
      return countOf(orders) + countOf(positions)
    },
    close() {
      isClosed = true
      for (const waiters of orders.values()) for (const { end } of waiters) end(undefined)
      for (const waiters of positions.values()) for (const { end } of waiters) end(undefined)
    },
  }
}

function add<State>(
  all: Waiters<State>,
  id: OrderId,
  isDone: (state: State) => boolean,
  timeoutMs: number,
): Promise<State | undefined> {
  if (timeoutMs <= 0) return Promise.resolve(undefined)
  const { promise, resolve } = Promise.withResolvers<State | undefined>()
  const waiters = all.get(id) ?? new Set()
  all.set(id, waiters)
  const waiter: Waiter<State> = { isDone, end }
  const timer = setTimeout(() => end(undefined), timeoutMs)
  waiters.add(waiter)

  function end(state: State | undefined): void {
    clearTimeout(timer)
    waiters.delete(waiter)
    if (waiters.size === 0 && all.get(id) === waiters) all.delete(id)
    resolve(state)
  }

  return promise
}

function pass<State>(all: Waiters<State>, id: OrderId, state: State): void {
  for (const { isDone, end } of all.get(id) ?? []) if (isDone(state)) end(state)
}

function countOf(all: ReadonlyMap<unknown, ReadonlySet<unknown>>): number {
  return [...all.values()].reduce((count, waiters) => count + waiters.size, 0)
}
