import type { OrderId } from '@bezel/protocol'
import { findOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import type { FoldClock, OrderState } from '../trading/orders/orderModel.ts'
import { refoldOrder, type OrderChange } from './refoldOrder.ts'

/** The folds of one transaction, and what they found new. */
export interface Refolds {
  readonly changes: readonly OrderChange[]
  /** Folds an order again. Its state now. */
  of(id: OrderId): Promise<OrderState>
}

export function startRefolds(sql: Sql, clock: FoldClock): Refolds {
  const changes: OrderChange[] = []
  return {
    changes,
    async of(id) {
      const change = await refoldOrder(sql, id, clock)
      if (change !== undefined) changes.push(change)
      const state = change === undefined ? (await findOrder(sql, id))?.state : change.after
      if (state === undefined) throw new Error(`order ${id} has an attempt and yet no state`)
      return state
    },
  }
}
