import type { OrderId } from '@bezel/protocol'
import type { Journal } from './accountLog.ts'
import { findOrder } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import type { FoldClock, OrderState } from '../trading/orders/orderModel.ts'
import { refoldOrder } from './refoldOrder.ts'

/** The folds of one transaction. */
export interface Refolds {
  /** Folds an order again. Its state now. */
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
