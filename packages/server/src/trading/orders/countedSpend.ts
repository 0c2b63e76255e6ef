import { Usd, type CollateralAmount, type OrderStatus } from '@bezel/protocol'
import { attemptOf, endOf, hasLapsed } from './openAttempts.ts'
import type { Attempt, AttemptId, OrderEvent, OrderState } from './orderModel.ts'

// The amount that an order counts against its agent's daily cap. It counts with its notional from its preparation on.
// A change that makes it larger counts with the difference from the preparation of the change on, and for good once it
// is mined. Everything is given back when the order ends unfilled.

/** The difference by which a prepared change makes its order larger. */
export interface ChangeCharge {
  readonly attemptId: AttemptId
  readonly usd: Usd
}

/** The facts that decide which changes of an order count. */
export interface ChangedOrder {
  readonly state: OrderState | undefined
  readonly attempts: readonly Attempt[]
  readonly events: readonly OrderEvent[]
}

/** Final statuses in which an unfilled order gives its spend back. */
const UNSPENT: ReadonlySet<OrderStatus> = new Set(['expired', 'rejected', 'canceled'])

/** True when an order counts: it is filled, or may still be. */
export function isCounted(state: OrderState | undefined): state is OrderState {
  return state !== undefined && (state.fill !== null || !UNSPENT.has(state.status))
}

/**
 * Returns the time since when a prepared change counts; `undefined` when it does not. One that is not mined counts
 * while it can be: a later change that is mined has taken the order on the chain from under it. One that is mined after
 * it had lapsed counts from its block on, like an order that is revived.
 */
export function changeCountedSince(attempt: Attempt, order: ChangedOrder, nowMs: number): number | undefined {
  const mined = placementBy(attempt, order)
  if (mined !== undefined) {
    if (!isCounted(order.state)) return undefined
    return mined.timestampMs < endOf(attempt) ? attempt.createdAtMs : mined.timestampMs
  }
  return canBeMined(attempt, order, nowMs) ? attempt.createdAtMs : undefined
}

/** Returns the part of the charges that is on the chain, on top of what the order was made with. */
export function minedChargesUsd(charges: readonly ChangeCharge[], order: ChangedOrder): Usd {
  const mined = charges.filter(({ attemptId }) => {
    const attempt = order.attempts.find(({ id }) => id === attemptId)
    return attempt !== undefined && placementBy(attempt, order) !== undefined
  })
  return Usd.of(mined.reduce((sum, { usd }) => sum + usd, 0n))
}

/** Returns the time at which the first change that is not mined lapses; `null` when there is none. */
export function changeLapsesAt(order: ChangedOrder, nowMs: number): number | null {
  const ends = order.attempts
    .filter((attempt) => attempt.kind === 'replace' && canBeMined(attempt, order, nowMs))
    .filter((attempt) => placementBy(attempt, order) === undefined)
    .map(endOf)
  return ends.length === 0 ? null : Math.min(...ends)
}

/** Returns the collateral that an order holds on the chain; `undefined` when the events do not tell. */
export function heldCollateral(events: readonly OrderEvent[]): CollateralAmount | undefined {
  return events.findLast((event) => event.kind === 'placed')?.collateralAmount
}

function canBeMined(attempt: Attempt, { state, attempts, events }: ChangedOrder, nowMs: number): boolean {
  if (state?.status !== 'open' || hasLapsed(attempt, nowMs)) return false
  return !events.some((event) => {
    const by = event.kind === 'placed' || event.kind === 'reverted' ? attemptOf(event, attempts) : undefined
    if (by === undefined) return false
    if (event.kind === 'reverted') return by.id === attempt.id
    return by.kind === 'replace' && by.createdAtMs >= attempt.createdAtMs
  })
}

function placementBy(attempt: Attempt, { attempts, events }: ChangedOrder): OrderEvent | undefined {
  return events.find((event) => event.kind === 'placed' && attemptOf(event, attempts)?.id === attempt.id)
}
