import type { Fill, Order, OrderStatus, PreparedOrder, Warning } from '@bezel/protocol/wire'
import { BezelError } from '../errors/bezelError.ts'
import { BezelNetworkError } from '../errors/serviceErrors.ts'
import { FillTimeoutError, OrderNotChangedError, OrderNotFilledError } from '../errors/orderErrors.ts'
import { TransactionRevertedError } from '../errors/transactionErrors.ts'
import type { WriteRequest } from '../verify/verifyContext.ts'
import type { Broadcaster, RevertLook } from './createBroadcaster.ts'

/** Options of waiting for an order. */
export interface WaitOptions {
  /** Timeout of the wait. Default 90,000 ms. */
  readonly timeoutMs?: number
  /** Pause between two reads of the order. Default 1,000 ms. */
  readonly pollMs?: number
  /** Called each time the order was read, to show progress. */
  readonly onProgress?: (order: Order) => void
}

/** An order that is filled, with the details of the fill. */
export type FilledOrder = Order & { readonly fill: Fill }

/** An order that can be waited for. */
export interface TrackedOrder {
  /** Id of the order. */
  readonly id: string
  /** The order as it was last read. */
  readonly order: Order
  /** Status of the order when it was last read. */
  readonly status: OrderStatus
  /**
   * Hash of the transaction that this client sent with the call that returned this; null when it sent nothing. After a
   * change or a cancellation it is that of the change or cancellation, and `order.txHash` stays that of the creation.
   */
  readonly txHash: `0x${string}` | null
  /** Differences between what was asked and what will happen, as the service told them; usually none. */
  readonly warnings: readonly Warning[]
  /** Reads the order again. */
  refresh(): Promise<Order>
  /**
   * Waits until the chain has what was asked for, and returns the order then: a market order or a close is `filled`, a
   * resting order `open`, a change in force, a cancelled order ended. A timed-out close that is cancelled may end
   * `filled` too, when it is answered after all. Outages of the service are waited out. Throws `OrderNotFilledError`
   * when a new order or a close ends in another way, `OrderNotChangedError` when the order ended before its change or
   * cancellation, `TransactionRevertedError` when the transaction of a change or a cancellation reverted, and
   * `FillTimeoutError` after the timeout.
   */
  wait(options?: WaitOptions): Promise<Order>
  /**
   * Waits until the order has one of the statuses, or fulfils the condition. Outages of the service are waited out.
   * Throws `FillTimeoutError` after the timeout.
   */
  waitFor(
    expected: OrderStatus | readonly OrderStatus[] | ((order: Order) => boolean),
    options?: WaitOptions,
  ): Promise<Order>
  /** Waits for the fill. Throws `OrderNotFilledError` when the order ends in another way. */
  waitForFill(options?: WaitOptions): Promise<FilledOrder>
}

const DEFAULT_TIMEOUT_MS = 90_000

const DEFAULT_POLL_MS = 1_000

const UNFILLED: readonly OrderStatus[] = ['rejected', 'timed_out', 'canceled', 'expired']

interface TrackedFrom {
  readonly order: Order
  readonly txHash: `0x${string}` | null
  readonly warnings?: readonly Warning[] | undefined
  /** Watches for a revert of the transaction. Without it, a reverted change is waited for until the timeout. */
  readonly watchRevert?: Broadcaster['watchRevert'] | undefined
  /** The outcome that `wait` waits for. Default: that of a new order. */
  readonly goal?: OrderGoal | undefined
  readonly read: (id: string) => Promise<Order>
}

/** Creates the tracker of an order; `read` reads it again. */
export function trackOrder(of: TrackedFrom): TrackedOrder {
  const { order: first, txHash, warnings = [], goal = PLACED, watchRevert, read } = of
  const { id } = first
  let order = first

  async function waitUntil(
    isExpected: (now: Order, look: RevertLook) => boolean | Promise<boolean>,
    { timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS, onProgress }: WaitOptions = {},
  ): Promise<Order> {
    const deadlineMs = performance.now() + timeoutMs
    const leftMs = (): number => deadlineMs - performance.now()
    let isRead = false
    let lastFailure: unknown
    for (;;) {
      const now = order
      if (await isExpected(now, { isRead, withinMs: Math.min(pollMs, leftMs()) })) return now
      if (leftMs() <= 0) throw new FillTimeoutError(id, now, timeoutMs, lastFailure)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.min(pollMs, leftMs()))))
      lastFailure = await tracked.refresh().then((latest) => void onProgress?.(latest), passing)
      isRead = lastFailure === undefined
    }
  }

  const tracked: TrackedOrder = {
    id,
    txHash,
    warnings,
    get order() {
      return order
    },
    get status() {
      return order.status
    },
    async refresh() {
      order = await read(id)
      return order
    },
    async wait(options) {
      // A new order that reverts is rejected; a change or a cancellation that does leaves the order as it was.
      const isReverted = txHash === null || goal === PLACED ? undefined : watchRevert?.(txHash)
      const hasEnded = (now: Order): boolean => goal.isReached(now) || goal.isMissed(now)
      const ended = await waitUntil(async (now, look) => hasEnded(now) || (await isReverted?.(look)) === true, options)
      if (goal.isReached(ended)) return ended
      if (txHash !== null && !goal.isMissed(ended)) throw new TransactionRevertedError(txHash, ended)
      throw goal === PLACED ? new OrderNotFilledError(ended) : new OrderNotChangedError(ended)
    },
    waitFor: (expected, options) => waitUntil(predicateOf(expected), options),
    async waitForFill(options) {
      const ended = await tracked.waitFor(({ status }) => status === 'filled' || UNFILLED.includes(status), options)
      if (ended.status !== 'filled' || ended.fill === null) throw new OrderNotFilledError(ended)
      return ended as FilledOrder
    },
  }
  return tracked
}

/** The outcome of a write: the order that it leads to, and the one from which nothing leads there any more. */
export interface OrderGoal {
  isReached(order: Order): boolean
  isMissed(order: Order): boolean
}

const PLACED: OrderGoal = {
  isReached: ({ type, status }) => status === 'filled' || (status === 'open' && type !== 'market'),
  isMissed: ({ status }) => UNFILLED.includes(status),
}

/** A rejected request has nothing left to cancel; a timed-out one ends only when it is reclaimed. */
const CANCELED: OrderGoal = {
  isReached: ({ status }) => status === 'canceled' || status === 'expired' || status === 'rejected',
  isMissed: ({ status }) => status === 'filled',
}

/** A close that is reclaimed and answered after all has closed its position, so it is as good as gone. */
const RECLAIMED: OrderGoal = {
  isReached: (order) => CANCELED.isReached(order) || order.status === 'filled',
  isMissed: () => false,
}

/** Returns the outcome that a write of an order is waited for. */
export function goalOf(request: WriteRequest, prepared: Pick<PreparedOrder, 'order' | 'warnings'>): OrderGoal {
  if (request.operation === 'cancelOrder') {
    const { reduceOnly, status } = request.order
    return reduceOnly && status === 'timed_out' ? RECLAIMED : CANCELED
  }
  return request.operation === 'updateOrder' ? changed(request.body, prepared) : PLACED
}

/**
 * Returns the goal of a change. A read shows what is in force, so the old values until the transaction is mined, and
 * the answer to the change shows the new ones. The contracts may move a stop loss, as a warning then says.
 */
function changed(body: object, { order: prepared, warnings = [] }: Parameters<typeof goalOf>[1]): OrderGoal {
  const moved = warnings.find(({ code }) => code === 'sl_clamped')?.value
  const terms = (['price', 'size', 'sl', 'tp', 'slippage'] as const).filter((name) => name in body)
  const isInForce = (order: Order): boolean =>
    terms.every((name) => {
      const value = order[name] ?? '0'
      return value === (prepared[name] ?? '0') || (name === 'sl' && value === moved)
    })
  return {
    isReached: (order) => ['open', 'filled'].includes(order.status) && isInForce(order),
    isMissed: ({ status }) => status === 'filled' || UNFILLED.includes(status),
  }
}

function predicateOf(expected: Parameters<TrackedOrder['waitFor']>[0]): (order: Order) => boolean {
  if (typeof expected === 'function') return expected
  const statuses: readonly OrderStatus[] = typeof expected === 'string' ? [expected] : expected
  return ({ status }) => statuses.includes(status)
}

/** Returns an error that may pass by itself, so that the wait goes on; throws any other. */
function passing(error: unknown): unknown {
  const isPassing = error instanceof BezelNetworkError || (error instanceof BezelError && error.retryable)
  if (isPassing) return error
  throw error
}
