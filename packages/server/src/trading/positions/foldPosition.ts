import type { TradeFeesData } from '../valuation/chainState.ts'
import type { PositionEvent, PositionState } from './positionModel.ts'

const NO_FEES: TradeFeesData = {
  realizedTradingFeesCollateral: 0n,
  realizedPnlCollateral: 0n,
  initialAccFundingFeeP: 0n,
  initialAccBorrowingFeeP: 0n,
}

type OpenedEvent = Extract<PositionEvent, { kind: 'opened' }>

/**
 * A position from everything the chain said about it; `undefined` while it was not opened. Starts from the opening wherever that stands in
 * the log: the contracts store a trade before they charge it, but nothing that is said about its fees may depend on it.
 */
export function foldPosition(events: readonly PositionEvent[]): PositionState | undefined {
  const sorted = events.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  const opened = sorted.find((event): event is OpenedEvent => event.kind === 'opened')
  if (opened === undefined) return undefined
  return sorted.reduce(applyEvent, stateAtOpening(opened))
}

function stateAtOpening({ trade, info, liquidationParams, blockNumber, timestampMs }: OpenedEvent): PositionState {
  return {
    isOpen: true,
    trade: { ...trade, isOpen: true },
    info,
    liquidationParams,
    feesData: NO_FEES,
    openedAtBlock: blockNumber,
    openedAtMs: timestampMs,
    updatedAtMs: timestampMs,
  }
}

function applyEvent(state: PositionState, event: PositionEvent): PositionState {
  return { ...state, ...changesOf(state, event), updatedAtMs: Math.max(state.updatedAtMs, event.timestampMs) }
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
      // Read by the contracts alone: no valuation asks for it.
      return {}
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
