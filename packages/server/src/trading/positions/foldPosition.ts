import { CollateralAmount } from '@bezel/protocol'
import type { TradeFeesData } from '../valuation/chainState.ts'
import { foldUpdate, waitingUpdate } from './pendingUpdate.ts'
import type { PositionEvent, PositionState, WaitingUpdate } from './positionModel.ts'

const NO_FEES: TradeFeesData = {
  realizedTradingFeesCollateral: CollateralAmount.zero,
  realizedPnlCollateral: CollateralAmount.zero,
  initialAccFundingFeeP: 0n,
  initialAccBorrowingFeeP: 0n,
}

/** The position of an event in the order of one chain. */
export type EventPlace = Pick<PositionEvent, 'blockNumber' | 'logIndex'>

type OpenedEvent = Extract<PositionEvent, { kind: 'opened' }>
type AdoptedEvent = Extract<PositionEvent, { kind: 'adopted' }>

/**
 * Computes a position from all its events; `undefined` when it was neither opened nor found. Starts from the first such
 * event wherever it is in the log: the contracts store a trade before they charge it, but the fee events must not
 * depend on that order.
 */
export function foldPosition(events: readonly PositionEvent[]): PositionState | undefined {
  const sorted = events.toSorted(comparePlaces)
  const first = sorted.find(
    (event): event is OpenedEvent | AdoptedEvent => event.kind === 'opened' || event.kind === 'adopted',
  )
  if (first === undefined) return undefined
  return sorted.reduce(foldForward, first.kind === 'opened' ? stateAtOpening(first) : stateWhenFound(first))
}

/**
 * Applies one more event to a position. The result equals a fold of all events, provided that this event comes after
 * all events that the state was folded from.
 */
export function foldForward(state: PositionState, event: PositionEvent): PositionState {
  return { ...state, ...changesOf(state, event), updatedAtMs: Math.max(state.updatedAtMs, event.timestampMs) }
}

/** Orders events by their place in the chain; negative when `a` comes first. */
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
    oldBorrowing: null,
    maxClosingSlippageP,
    openedAtBlock: blockNumber,
    openedAtMs: timestampMs,
    updatedAtMs: timestampMs,
    pendingUpdate: null,
    updateRefusal: null,
  }
}

function stateWhenFound(event: AdoptedEvent): PositionState {
  const { createdBlock, timestampMs } = event
  return {
    ...adopted(event, null),
    openedAtBlock: createdBlock,
    openedAtMs: timestampMs,
    updatedAtMs: timestampMs,
    updateRefusal: null,
  }
}

/**
 * Returns everything that the chain says of a position. Its opening and its last refusal are no longer on the chain. A
 * pending change that is known keeps its transaction, which the chain does not tell either.
 */
function adopted(
  event: AdoptedEvent,
  known: WaitingUpdate | null,
): Omit<PositionState, 'openedAtBlock' | 'openedAtMs' | 'updatedAtMs' | 'updateRefusal'> {
  const { trade, info, liquidationParams, feesData, oldBorrowing, maxClosingSlippageP, update } = event
  const { txHash, timestampMs } = event
  const isKnown = update !== null && known?.pendingIndex === update.pendingIndex
  const found = update && waitingUpdate(trade, { ...update, attemptId: null, txHash, timestampMs })
  return {
    isOpen: true,
    trade: { ...trade, isOpen: true },
    info,
    liquidationParams,
    feesData,
    oldBorrowing,
    maxClosingSlippageP,
    pendingUpdate: isKnown ? known : found,
  }
}

function changesOf(state: PositionState, event: PositionEvent): Partial<PositionState> {
  const { trade, feesData } = state
  switch (event.kind) {
    case 'opened':
      return {}
    case 'adopted':
      return adopted(event, state.pendingUpdate)
    case 'holdingFeesStarted': {
      const { initialAccFundingFeeP, initialAccBorrowingFeeP } = event
      return { feesData: { ...feesData, initialAccFundingFeeP, initialAccBorrowingFeeP } }
    }
    case 'oldBorrowingStarted': {
      const { accPairFee, accGroupFee, blockNumber } = event
      return { oldBorrowing: { accPairFee, accGroupFee, block: blockNumber } }
    }
    case 'feesDownscaled':
      return { feesData: event.feesData }
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
    case 'updateRequested':
    case 'updateRefused':
    case 'updateEnded':
      return foldUpdate(state, event)
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
