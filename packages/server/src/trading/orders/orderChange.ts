import type { OrderRecord, OrderState } from './orderModel.ts'
/** What a fold found new. `undefined` is an order that does not exist (now, or not yet). */
export interface OrderChange {
  readonly record: OrderRecord
  readonly before: OrderState | undefined
  readonly after: OrderState | undefined
}
