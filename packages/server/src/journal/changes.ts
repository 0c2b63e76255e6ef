import type { Address, ChainSlug } from '@bezel/protocol'
import type { StoredFill } from '../store/fillStore.ts'
import type { OrderChange } from '../trading/orders/orderModel.ts'
import type { PositionChange } from '../trading/positions/positionModel.ts'

/** The origin of a change. */
export interface Origin {
  /** Number of the block that caused the change; `null` when a request or the clock did. */
  readonly block: number | null
  /** True when a block was undone: the change then corrects the past. */
  readonly isReorg: boolean
  /**
   * True for what a snapshot found, or what is undone of it. The log then tells the positions, once per trader, and no
   * orders, because none of them happened now. What is undone is not told: nobody is flat because of it, and the next
   * snapshot tells everybody. Default false.
   */
  readonly isSnapshot?: boolean
}

/** Origin of changes by a request or the clock. */
export const OFF_CHAIN: Origin = { block: null, isReorg: false }

/** The origin and the time of a change. */
export interface Cause extends Origin {
  readonly nowMs: number
}

/** An execution as the history of fills stores it. */
export interface LoggedFill {
  readonly trader: Address
  readonly pairIndex: number
  readonly fill: StoredFill
}

/** Everything one transaction changed. */
export interface Changes {
  readonly chain: ChainSlug
  readonly cause: Cause
  readonly orders: readonly OrderChange[]
  readonly positions: readonly PositionChange[]
  readonly fills: readonly LoggedFill[]
}

/**
 * Collects the changes of one transaction. Every function that changes an order or a position takes one, and only the
 * log makes them.
 */
export interface Journal {
  order(change: OrderChange): void
  position(change: PositionChange): void
  execution(fill: LoggedFill): void
  /**
   * Tells all nodes of a step of the follower, as text that it makes and reads itself. Makes a commit also of a
   * transaction that changes no order and no position, so it is called only where there may be other nodes.
   */
  step(told: string): void
}
