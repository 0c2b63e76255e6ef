import type { TradeFeesData } from '../valuation/chainState.ts'
import type { PositionEvent, PositionState } from './positionModel.ts'

const NO_FEES: TradeFeesData = {
  realizedTradingFeesCollateral: 0n,
  realizedPnlCollateral: 0n,
  initialAccFundingFeeP: 0n,
  initialAccBorrowingFeeP: 0n,
}

/** What orders the events of one chain. */
export type EventPlace = Pick<PositionEvent, 'blockNumber' | 'logIndex'>

type OpenedEvent = Extract<PositionEvent, { kind: 'opened' }>

/**
 * A position from everything the chain said about it; `undefined` while it was not opened. Starts from the opening wherever that stands in
 * the log: the contracts store a trade before they charge it, but nothing that is said about its fees may depend on it.
 */
export function foldPosition(events: readonly PositionEvent[]): PositionState | undefined {
  const sorted = events.toSorted(comparePlaces)
  const opened = sorted.find((event): event is OpenedEvent => event.kind === 'opened')
  if (opened === undefined) return undefined
  return sorted.reduce(foldForward, stateAtOpening(opened))
}

/**
 * What a position becomes by one more event. Folding everything gives the same, provided that the event comes after
 * everything the state was folded from.
 */
export function foldForward(state: PositionState, event: PositionEvent): PositionState {
  return { ...state, ...changesOf(state, event), updatedAtMs: Math.max(state.updatedAtMs, event.timestampMs) }
}

/** Negative when `a` comes first in the chain. */
export function comparePlaces(a: EventPlace, b: EventPlace): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex
}

function stateAtOpening(opened: OpenedEvent): PositionState {
  const { trade, info, liquidationParams, maxClosingSlippageP, blockNumber, timestampMs } = opened
  return {
    isOpen: true,
    trade: { ...trade, isOpen: true },
    info,
    liquidationParams,
    feesData: NO_FEES,
    maxClosingSlippageP,
    openedAtBlock: blockNumber,
    openedAtMs: timestampMs,
    updatedAtMs: timestampMs,
  }
}

function changesOf(state: PositionState, event: PositionEvent): Partial<PositionState> {
  const { trade, feesData } = state
  switch (event.kind) {
    case 'opened':
      return {}
    case 'holdingFeesStarted': {
      const { initialAccFundingFeeP, initialAccBorrowingFeeP } = event
      return { feesData: { ...feesData, initialAccFundingFeeP, initialAccBorrowingFeeP } }
    }
    case 'realized':
      return {
        feesData: {
          ...feesData,
          realizedTradingFeesCollateral: event.realizedTradingFeesCollateral ?? feesData.realizedTradingFeesCollateral,
          realizedPnlCollateral: event.realizedPnlCollateral ?? feesData.realizedPnlCollateral,
        },
      }
    case 'tpUpdated':
      return { trade: { ...trade, tp: event.tp } }
    case 'slUpdated':
      return { trade: { ...trade, sl: event.sl } }
    case 'closingSlippageUpdated':
      return { maxClosingSlippageP: event.maxSlippageP }
    case 'resized':
      return resized(state, event)
    case 'collateralUpdated':
      return { trade: { ...trade, collateralAmount: event.collateralAmount } }
    case 'closed':
      return { isOpen: false, trade: { ...trade, isOpen: false } }
  }
}

function resized(
  { trade, info, liquidationParams }: PositionState,
  event: Extract<PositionEvent, { kind: 'resized' }>,
): Partial<PositionState> {
  const { collateralAmount, leverage, openPrice, sl, positionSizeToken, renewedLiquidationParams } = event
  const isIncrease = renewedLiquidationParams !== null
  return {
    trade: { ...trade, collateralAmount, leverage, openPrice, sl, positionSizeToken },
    info: isIncrease ? { ...info, lastPosIncreaseBlock: event.blockNumber } : info,
    liquidationParams: renewedLiquidationParams ?? liquidationParams,
  }
}
