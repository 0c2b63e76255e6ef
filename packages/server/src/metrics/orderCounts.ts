import type { OrderStatus } from '@bezel/protocol'
import type { OrderState } from '../trading/orders/orderModel.ts'

/** How many orders have each status, without asking the store: counting a large table would hold up every request meanwhile. */
export interface OrderCounts {
  /** What was committed. */
  apply(changes: readonly OrderCountChange[]): void
  current(): ReadonlyMap<OrderStatus, number>
}

/** The part of an order's change that counts. */
export interface OrderCountChange {
  readonly before: Pick<OrderState, 'status'> | undefined
  readonly after: Pick<OrderState, 'status'> | undefined
}

/** Goes on from what the store held at the start. */
export function createOrderCounts(atStart: ReadonlyMap<OrderStatus, number>): OrderCounts {
  const counts = new Map(atStart)

  function add(state: Pick<OrderState, 'status'> | undefined, step: 1 | -1): void {
    if (state !== undefined) counts.set(state.status, (counts.get(state.status) ?? 0) + step)
  }

  return {
    apply(changes) {
      for (const { before, after } of changes) {
        add(before, -1)
        add(after, 1)
      }
    },
    current: () => counts,
  }
}
