import type { Fill, Order, OrderStatus, Warning } from '@bezel/protocol/wire'
import { BezelError } from '../errors/bezelError.ts'
import { BezelNetworkError } from '../errors/serviceErrors.ts'
import { FillTimeoutError, OrderNotFilledError } from '../errors/orderErrors.ts'

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
  readonly id: string
  /** The order as it was last read. */
  readonly order: Order
  readonly status: OrderStatus
  /** Hash of the transaction that this client sent for it; null when it sent nothing. */
  readonly txHash: `0x${string}` | null
  /** Differences between what was asked and what will happen, as the service told them; usually none. */
  readonly warnings: readonly Warning[]
  /** Reads the order again. */
  refresh(): Promise<Order>
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
  readonly read: (id: string) => Promise<Order>
}

/** Creates the tracker of an order; `read` reads it again. */
export function trackOrder({ order: first, txHash, warnings = [], read }: TrackedFrom): TrackedOrder {
  const { id } = first
  let order = first
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
    async waitFor(expected, { timeoutMs = DEFAULT_TIMEOUT_MS, pollMs = DEFAULT_POLL_MS, onProgress } = {}) {
      const isExpected = predicateOf(expected)
      const deadlineMs = performance.now() + timeoutMs
      let lastFailure: unknown
      while (!isExpected(order)) {
        const leftMs = deadlineMs - performance.now()
        if (leftMs <= 0) throw new FillTimeoutError(id, order, timeoutMs, lastFailure)
        await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, leftMs)))
        lastFailure = await tracked.refresh().then(onProgress ?? nothing, passing)
      }
      return order
    },
    async waitForFill(options) {
      const ended = await tracked.waitFor(({ status }) => status === 'filled' || UNFILLED.includes(status), options)
      if (ended.status !== 'filled' || ended.fill === null) throw new OrderNotFilledError(ended)
      return ended as FilledOrder
    },
  }
  return tracked
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

function nothing(): void {}
