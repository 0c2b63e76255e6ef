import { CollateralAmount, Leverage, type PendingUpdate, type PositionUpdateKind } from '@bezel/protocol'
import { leverageDecimal } from '../market/amounts.ts'
import { isTimeoutKnown, UNKNOWN_TIMEOUT_BLOCKS, type FoldClock } from '../orders/orderModel.ts'
import type { Trade } from '../valuation/chainState.ts'
import { positionSizeCollateral } from '../valuation/collateralAmounts.ts'
import type { AskedUpdate, WaitingUpdate, PositionEvent, PositionState } from './positionModel.ts'

type RequestedEvent = Extract<PositionEvent, { kind: 'updateRequested' }>
type RefusedEvent = Extract<PositionEvent, { kind: 'updateRefused' }>
type EndedEvent = Extract<PositionEvent, { kind: 'updateEnded' }>

/**
 * Applies an event of a change that waits for the oracle. A position has at most one at a time: the Diamond refuses a
 * second request for the same trade.
 */
export function foldUpdate(
  state: PositionState,
  event: RequestedEvent | RefusedEvent | EndedEvent,
): Partial<PositionState> {
  if (event.kind === 'updateRequested') {
    return { pendingUpdate: waitingUpdate(state.trade, { ...event, createdBlock: event.blockNumber }) }
  }
  const { pendingUpdate } = state
  if (pendingUpdate?.pendingIndex !== event.pendingIndex) return {}
  if (event.kind === 'updateEnded') return { pendingUpdate: null }
  const { kind, pendingIndex, leverage } = pendingUpdate
  return { updateRefusal: { kind, pendingIndex, leverage, reason: event.reason, atMs: event.timestampMs } }
}

/** Returns the change of a trade that a request asks for. Its timeout is set by `atClock`. */
export function waitingUpdate(
  trade: Trade,
  of: AskedUpdate & Pick<RequestedEvent, 'attemptId' | 'txHash' | 'timestampMs'>,
): WaitingUpdate {
  const { update: kind, pendingIndex, attemptId, txHash, timestampMs, createdBlock } = of
  return {
    kind,
    pendingIndex,
    ...TERMS[kind](trade, of),
    attemptId,
    txHash,
    createdAtMs: timestampMs,
    createdBlock,
    timesOutAtBlock: createdBlock + UNKNOWN_TIMEOUT_BLOCKS,
    status: 'pending',
  }
}

type Asked = Pick<RequestedEvent, 'leverage' | 'collateralAmount'>
type Terms = Pick<WaitingUpdate, 'leverage' | 'collateralDelta'>

/**
 * The leverage after each kind of change, and the collateral that the wallet gave with its request. The terms of a
 * request mean something else for each kind.
 */
const TERMS: Readonly<Record<PositionUpdateKind, (trade: Trade, asked: Asked) => Terms>> = {
  leverage: releveraged,
  collateral: releveraged,
  increase: (trade, { leverage, collateralAmount }) => ({
    leverage: increasedLeverage(trade, leverage, collateralAmount),
    collateralDelta: collateralAmount,
  }),
  withdrawal: ({ leverage }, { collateralAmount }) => ({
    leverage,
    collateralDelta: CollateralAmount.of(-collateralAmount),
  }),
  other: ({ leverage }) => ({ leverage, collateralDelta: CollateralAmount.zero }),
}

/** Less leverage took collateral from the wallet with the request; more leverage gives some back with the answer. */
function releveraged(trade: Trade, { leverage, collateralAmount }: Asked): Terms {
  const isIncrease = leverage > trade.leverage
  return { leverage, collateralDelta: isIncrease ? CollateralAmount.of(-collateralAmount) : collateralAmount }
}

/**
 * Returns the leverage of an increased trade before fees, truncated. An increase without collateral of its own uses the
 * trade's.
 */
function increasedLeverage(trade: Trade, leverageDelta: number, collateralDelta: CollateralAmount): number {
  const base = collateralDelta > 0n ? collateralDelta : trade.collateralAmount
  const added = positionSizeCollateral({ collateralAmount: base, leverage: leverageDelta })
  const size = positionSizeCollateral(trade) + added
  const collateral = trade.collateralAmount + collateralDelta
  return collateral === 0n ? trade.leverage : Number((size * Leverage.one) / collateral)
}

/** Returns the state with the timeout of its pending change as of `clock`. Needs a clock that knows the timeout. */
export function atClock(state: PositionState, clock: FoldClock): PositionState {
  const { pendingUpdate } = state
  if (pendingUpdate === null || !isTimeoutKnown(clock)) return state
  const timesOutAtBlock = pendingUpdate.createdBlock + clock.timeoutBlocks
  const status = clock.headBlock >= timesOutAtBlock ? 'timed_out' : 'pending'
  return { ...state, pendingUpdate: { ...pendingUpdate, timesOutAtBlock, status } }
}

/** Returns a pending change as the interface shows it. `decimals` are those of the collateral. */
export function pendingUpdateAnswer(update: WaitingUpdate | null, decimals: number): PendingUpdate | null {
  if (update === null) return null
  const { kind, txHash, createdAtMs, timesOutAtBlock, status } = update
  return {
    kind,
    leverage: leverageDecimal(update),
    collateralDelta: CollateralAmount.format(update.collateralDelta, decimals),
    txHash,
    createdAt: createdAtMs,
    timesOutAtBlock,
    status,
  }
}
