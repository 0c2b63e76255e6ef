import type { OrderStatus } from '@bezel/protocol'

/**
 * A cause of a change of status. The first five come from this service, `timedOut` from the count of blocks, the others
 * from events of the chain.
 */
export type OrderCause =
  /** A transaction that brings the order to the chain was prepared. */
  | 'prepared'
  /** The hash of that transaction was reported. */
  | 'reported'
  /** The reported hash was mined, but was not this order. */
  | 'mismatched'
  /** No node knows the reported hash after a while. Its transaction may be mined all the same. */
  | 'unseen'
  /** The last transaction that could bring the order to the chain has expired or was withdrawn. */
  | 'lapsed'
  /** That transaction was mined and failed. */
  | 'reverted'
  /** A request to the oracle was made; a closing order has one per leg. */
  | 'requested'
  | 'placed'
  | 'updated'
  | 'canceled'
  /** One leg was answered while others wait. */
  | 'answeredPartly'
  /** All legs are answered, and something was traded. */
  | 'executed'
  /** All legs are answered, and nothing was traded. */
  | 'refused'
  /** No leg was answered, and all collateral was taken back. */
  | 'reclaimed'
  /** The oracle's time to answer a request is over. */
  | 'timedOut'

/**
 * The status of an order during a fold. `absent` is an order that is neither prepared nor on the chain, such as one
 * found in a block that was reorganised away.
 */
export type OrderStanding = OrderStatus | 'absent'

/**
 * Every change of status. A cause that a status does not list changes nothing: the contracts exclude it, and if it
 * occurs nevertheless, one odd transaction must not stop the chain for everybody.
 *
 * No status is final on the chain except `filled`: `expired`, and `rejected` after a failed transaction, are revived by
 * a later transaction, `timed_out` by a late answer, `canceled` by the second half of a replacement. A reorganisation
 * removes events, so that readers may also see a status go back; the fold itself starts over and only goes forward.
 */
export const ORDER_TRANSITIONS: Readonly<Record<OrderStanding, Readonly<Partial<Record<OrderCause, OrderStatus>>>>> = {
  absent: {
    prepared: 'prepared',
    requested: 'pending',
    placed: 'open',
    // A keeper's close has no request by the trader.
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
    // The first five apply while its transaction is reported and not mined.
    mismatched: 'prepared',
    unseen: 'prepared',
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
  // An order whose trigger was refused stays open.
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

/** Returns the next status; `undefined` when the cause has no meaning in this status. */
export function nextStatus(from: OrderStanding, cause: OrderCause): OrderStatus | undefined {
  return ORDER_TRANSITIONS[from][cause]
}
