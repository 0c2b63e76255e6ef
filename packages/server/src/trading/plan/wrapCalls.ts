import { ApiError, type Address, type Hex } from '@bezel/protocol'
import type { AttemptId } from '../orders/orderModel.ts'
import { encodeCall } from './encodeCall.ts'

/** The Diamond's `multicall` reverts `AboveMax` beyond. */
const MAX_CALLS = 20

export interface CallsToWrap {
  /** Of the trader, at least one. */
  readonly calls: readonly Hex[]
  readonly trader: Address
  /** Who sends the transaction. */
  readonly agent: Address
  readonly attemptId: AttemptId
}

export interface WrappedCalls {
  /** What the trader would send itself, which is what a refused simulation is replayed with. */
  readonly inner: Hex
  /** The whole input of the agent's transaction. */
  readonly data: Hex
}

/**
 * Several calls become one `multicall`; an agent other than the trader goes through `delegatedTradingAction` (the trader itself must not: it is no delegate of
 * its own). The attempt's id stands behind everything, where the ABI decoder of the contracts does not look.
 */
export function wrapCalls({ calls, trader, agent, attemptId }: CallsToWrap): WrappedCalls {
  requireCallCount(calls.length)
  const [only] = calls
  if (only === undefined) throw new RangeError('there is nothing to send')
  const inner = calls.length === 1 ? only : encodeCall('multicall', [calls])
  const sent = agent === trader ? inner : encodeCall('delegatedTradingAction', [trader, inner])
  return { inner, data: `${sent}${attemptId.slice(2)}` as Hex }
}

/** Throws `UNSUPPORTED` when one transaction can't hold so many. */
export function requireCallCount(count: number): void {
  if (count <= MAX_CALLS) return
  const message = `This takes ${count} calls of the Diamond, and one transaction holds ${MAX_CALLS}. Ask for less at once.`
  throw new ApiError('UNSUPPORTED', message, { calls: count, maxCalls: MAX_CALLS })
}
