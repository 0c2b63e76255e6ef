import type { Fill, Order, OrderStatus } from '@bezel/protocol/wire'
import { BezelError } from '../errors/bezelError.ts'
import { BezelNetworkError } from '../errors/bezelNetworkError.ts'
import { FillTimeoutError } from '../errors/fillTimeoutError.ts'
import { OrderNotFilledError } from '../errors/orderNotFilledError.ts'

export interface WaitOptions {
  /** 90 s. */
  readonly timeoutMs?: number
  /** 1 s. */
  readonly pollMs?: number
  /** Told each time the order was read, for those who show progress. */
  readonly onProgress?: (order: Order) => void
}

/** An order that has what it was filled with. */
export type FilledOrder = Order & { readonly fill: Fill }

/** An order that is followed. */
export interface TrackedOrder {
  readonly id: string
  /** As last seen. */
  readonly order: Order
  readonly status: OrderStatus
  /** Of what this client sent for it; null when it sent nothing. */
  readonly txHash: `0x${string}` | null
  refresh(): Promise<Order>
  /** Waits until it is as expected. A service that is away is waited for; throws `FillTimeoutError` in the end. */
  waitFor(
    expected: OrderStatus | readonly OrderStatus[] | ((order: Order) => boolean),
    options?: WaitOptions,
  ): Promise<Order>
  /** Waits for the fill. Throws `OrderNotFilledError` when it ends otherwise. */
  waitForFill(options?: WaitOptions): Promise<FilledOrder>
}

const DEFAULT_TIMEOUT_MS = 90_000
const DEFAULT_POLL_MS = 1_000
const UNFILLED: readonly OrderStatus[] = ['rejected', 'timed_out', 'canceled', 'expired']

export interface TrackedFrom {
  readonly order: Order
  readonly txHash: `0x${string}` | null
  readonly read: (id: string) => Promise<Order>
}

export function trackOrder({ order: first, txHash, read }: TrackedFrom): TrackedOrder {
  const { id } = first
  let order = first
  const tracked: TrackedOrder = {
    id,
    txHash,
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

/** What goes by itself is waited out; anything else is an answer. */
function passing(error: unknown): unknown {
  const isPassing = error instanceof BezelNetworkError || (error instanceof BezelError && error.retryable)
  if (isPassing) return error
  throw error
}

function nothing(): void {}
