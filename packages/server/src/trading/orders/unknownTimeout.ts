import type { FoldClock } from './orderModel.ts'

/** Stands for the oracle's timeout until the chain's setting is read. */
export const UNKNOWN_TIMEOUT_BLOCKS = 2 ** 52

/** While it is not, an order that waits for the oracle must not be folded: one that timed out would wait again, and for good. */
export function isTimeoutKnown({ timeoutBlocks }: Pick<FoldClock, 'timeoutBlocks'>): boolean {
  return timeoutBlocks < UNKNOWN_TIMEOUT_BLOCKS
}
