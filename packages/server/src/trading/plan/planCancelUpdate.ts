import { ApiError, CollateralAmount, max, Usd, type Hex } from '@bezel/protocol'
import { symbolOf } from '../market/amounts.ts'
import type { ChainMarkets } from '../market/chainMarkets.ts'
import type { FoldClock } from '../orders/orderModel.ts'
import type { LivePosition, WaitingUpdate } from '../positions/positionModel.ts'
import { encodeCall } from './encodeCall.ts'
import type { Plan } from './plan.ts'

/** Plans the reclaim of a timed-out change of a position, which may be closed by now. */
export function planCancelUpdate(
  position: LivePosition,
  chain: ChainMarkets,
  { headBlock }: Pick<FoldClock, 'headBlock'>,
): Plan {
  const { trade, pendingUpdate } = position.state
  const calls = reclaimCalls(position)
  if (calls.length === 0) throw notReclaimable(pendingUpdate, headBlock)
  return {
    kind: 'reclaim',
    calls,
    // Taken from the symbols of all pairs, because a pair that was delisted must let its collateral go.
    action: { market: symbolOf(chain, trade.pairIndex), leverage: null, spendUsd: Usd.zero },
    validity: 'resting',
    takes: null,
    warnings: [],
    touches: [position],
  }
}

/** Returns the refusal of a reclaim that is not due, or for which nothing is pending. */
export function notReclaimable(update: WaitingUpdate | null, headBlock: number): ApiError {
  const timesOutAtBlock = update?.timesOutAtBlock ?? null
  const message =
    timesOutAtBlock === null
      ? 'No change of this position waits for the oracle.'
      : `The change of this position can be reclaimed from block ${timesOutAtBlock} on; the last block is ${headBlock}.`
  return new ApiError('ORDER_NOT_MODIFIABLE', message, { block: headBlock, timesOutAtBlock })
}

/** Returns the call that ends a position's timed-out change, as a list that is empty when none has timed out. */
export function reclaimCalls({ state: { pendingUpdate } }: LivePosition): readonly Hex[] {
  if (pendingUpdate?.status !== 'timed_out') return []
  return [encodeCall('cancelOrderAfterTimeout', [pendingUpdate.pendingIndex])]
}

/** Returns a plan that asks the oracle for a change of a position, after the reclaim of an earlier one if it is due. */
export function reclaimFirst<Change extends Plan>(position: LivePosition, plan: Change): Change {
  const reclaims = reclaimCalls(position)
  if (reclaims.length === 0) return { ...plan, touches: [position] }
  const returned = max(position.state.pendingUpdate?.collateralDelta ?? 0n, 0n)
  const takes = plan.takes && { ...plan.takes, returned: CollateralAmount.of(returned) }
  return { ...plan, calls: [...reclaims, ...plan.calls], takes, touches: [position] }
}
