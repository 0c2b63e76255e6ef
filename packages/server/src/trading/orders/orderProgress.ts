import type { OrderEvent, OrderState } from './orderModel.ts'
import type { OrderStanding } from './orderTransitions.ts'
import type { Answer, RequestLeg } from './requestLegs.ts'

/** An order on its way through its history. */
export interface OrderProgress {
  readonly status: OrderStanding
  readonly terms: Pick<OrderState, 'size' | 'price' | 'sl' | 'tp' | 'slippage'>
  /** The first event that brought it to the chain. */
  readonly arrival: OrderEvent | undefined
  /** Given to it when it was placed last. */
  readonly tradeIndex: number | null
  /** In the order of the requests. */
  readonly legs: readonly RequestLeg[]
  /** An answer to no request of it: the execution of a resting order, a keeper's close. */
  readonly direct: Answer | undefined
  /** The failed transaction that rejected it. */
  readonly failure: OrderEvent | undefined
  /** Of attempts and events, not of the clock: folding later gives the same. */
  readonly updatedAtMs: number
}
