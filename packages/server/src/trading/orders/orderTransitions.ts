import type { OrderStatus } from '@bezel/protocol'

/** What moves an order on. The first four are ours, the last is the count of blocks, the others the chain told. */
export type OrderCause =
  /** A transaction that brings it to the chain was prepared. */
  | 'prepared'
  /** The hash of that transaction was reported. */
  | 'reported'
  /** The reported hash was mined, and was not this order. */
  | 'mismatched'
  /** The last transaction that could bring it to the chain is out of date, or was withdrawn. */
  | 'lapsed'
  /** That transaction was mined and failed. */
  | 'reverted'
  /** One request to the oracle; a closing order has one per leg. */
  | 'requested'
  | 'placed'
  | 'updated'
  | 'canceled'
  /** An answer to one leg while others wait. */
  | 'answeredPartly'
  /** All is answered, and something was traded. */
  | 'executed'
  /** All is answered, nothing was traded. */
  | 'refused'
  /** Nothing was answered, and all was taken back. */
  | 'reclaimed'
  /** The oracle's time for a request is over. */
  | 'timedOut'

/** `absent`: neither prepared nor on the chain, as an order found in a block that is no longer part of it. */
export type OrderStanding = OrderStatus | 'absent'

/**
 * Every move of an order. A cause that a status does not list moves nothing and changes nothing: the contracts' rules exclude it, and
 * were it to come nevertheless, one odd transaction must not stop the chain for everybody.
 *
 * No status is final to the chain: `expired` and a `rejected` that comes from a failed transaction are revived by a later one, `timed_out`
 * by a late answer, `canceled` by the second half of a replacement. A re-organisation takes events away, so that what readers see may
 * also go backwards; the fold starts over and never does.
 */
export const ORDER_TRANSITIONS: Readonly<Record<OrderStanding, Readonly<Partial<Record<OrderCause, OrderStatus>>>>> = {
  absent: {
    prepared: 'prepared',
    requested: 'pending',
    placed: 'open',
    // A keeper's close has no request of the trader's.
    executed: 'filled',
    refused: 'rejected',
  },
  prepared: {
    reported: 'pending',
    lapsed: 'expired',
    reverted: 'rejected',
    requested: 'pending',
    placed: 'open',
  },
  pending: {
    // These four while its transaction is reported and not mined.
    mismatched: 'prepared',
    lapsed: 'expired',
    reverted: 'rejected',
    placed: 'open',
    requested: 'pending',
    answeredPartly: 'pending',
    executed: 'filled',
    refused: 'rejected',
    reclaimed: 'canceled',
    timedOut: 'timed_out',
  },
  // A trigger that was refused leaves it resting.
  open: {
    updated: 'open',
    canceled: 'canceled',
    executed: 'filled',
  },
  timed_out: {
    answeredPartly: 'timed_out',
    executed: 'filled',
    refused: 'rejected',
    reclaimed: 'canceled',
  },
  expired: {
    prepared: 'prepared',
    reverted: 'rejected',
    requested: 'pending',
    placed: 'open',
  },
  rejected: {
    requested: 'pending',
    placed: 'open',
  },
  canceled: {
    placed: 'open',
  },
  filled: {},
}

/** `undefined`: the cause means nothing to an order that stands like this. */
export function nextStatus(from: OrderStanding, cause: OrderCause): OrderStatus | undefined {
  return ORDER_TRANSITIONS[from][cause]
}
