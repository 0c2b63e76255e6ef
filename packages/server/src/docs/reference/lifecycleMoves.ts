import type { OrderStatus } from '@bezel/protocol'
import { ORDER_TRANSITIONS, type OrderCause, type OrderStanding } from '../../trading/orders/orderTransitions.ts'

/** All causes that bring an order from one status to another. */
export interface Move {
  readonly from: OrderStanding
  readonly to: OrderStatus
  readonly causes: readonly OrderCause[]
}

/** The table of transitions as arrows: one for each pair of statuses. */
export function lifecycleMoves(): readonly Move[] {
  return (Object.keys(ORDER_TRANSITIONS) as OrderStanding[]).flatMap((from) => {
    const causes = Object.entries(ORDER_TRANSITIONS[from]) as [OrderCause, OrderStatus][]
    const byTarget = Map.groupBy(causes, ([, to]) => to)
    return [...byTarget].map(([to, same]) => ({ from, to, causes: same.map(([cause]) => cause) }))
  })
}
