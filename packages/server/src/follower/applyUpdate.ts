import {
  CancelReason,
  CollateralAmount,
  PendingOrderType,
  type Address,
  type PositionUpdateKind,
} from '@bezel/protocol'
import type { PlacedEvent } from '../chain/blocks.ts'
import type { EventOf } from '../chain/events.ts'
import type { UpdateHandle } from '../store/positionStore.ts'
import { refusalReason } from './applyOrder.ts'
import { traderOf, type TransactionScope } from './transactionScope.ts'

// Changes of positions that wait for the oracle: requested, refused, and over.

/** Requests that change a position. A size increase is an order as well. */
const KINDS: ReadonlyMap<number, PositionUpdateKind> = new Map([
  [PendingOrderType.UPDATE_LEVERAGE, 'leverage'],
  [PendingOrderType.MARKET_PARTIAL_OPEN, 'increase'],
  [PendingOrderType.PNL_WITHDRAWAL, 'withdrawal'],
  [PendingOrderType.MANUAL_HOLDING_FEES_REALIZATION, 'other'],
  [PendingOrderType.MANUAL_NEGATIVE_PNL_REALIZATION, 'other'],
])

/** Returns the kind of change that a request of this type asks for; `undefined` when it changes no position. */
export function updateKindOf(orderType: number): PositionUpdateKind | undefined {
  return KINDS.get(orderType)
}

/** Records a change that waits for the oracle. Ignores other requests, and positions that are not known. */
export async function applyUpdateRequested(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'PendingOrderStored'> & PlacedEvent,
): Promise<void> {
  const { trade, user, index: pendingIndex, orderType } = args.pendingOrder
  const kind = updateKindOf(orderType)
  if (kind === undefined) return
  const trader = traderOf(user)
  const positionId = await tx.scope.findPosition(trader, trade.index)
  if (positionId === undefined) return
  const attempt = await tx.findPositionAttempt(positionId)
  const event = {
    ...tx.placeOf(logIndex),
    kind: 'updateRequested',
    pendingIndex,
    update: kind === 'leverage' && attempt?.kind === 'collateral' ? 'collateral' : kind,
    leverage: trade.leverage,
    collateralAmount: CollateralAmount.of(trade.collateralAmount),
    attemptId: attempt?.id ?? null,
  } as const
  await tx.scope.addPositionEvent(positionId, event, updateHandleOf(trader, pendingIndex))
}

/** Records that a change was refused when the oracle answered. Its end is told by another event. */
export async function applyUpdateRefused(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'LeverageUpdateExecuted' | 'PositionSizeIncreaseExecuted'> & PlacedEvent,
): Promise<void> {
  const { cancelReason, orderId } = args
  if (cancelReason === CancelReason.NONE) return
  const pendingIndex = orderId.index
  const positionId = await tx.scope.findPositionByHandle(updateHandleOf(traderOf(orderId.user), pendingIndex))
  if (positionId === undefined) return
  const body = { kind: 'updateRefused', pendingIndex, reason: refusalReason(cancelReason) } as const
  await tx.scope.addPositionEvent(positionId, { ...tx.placeOf(logIndex), ...body })
}

/** Records the end of a change, whether it was executed, refused or reclaimed. Ignores requests that change nothing. */
export async function applyPendingOrderClosed(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'PendingOrderClosed'> & PlacedEvent,
): Promise<void> {
  const { user, index: pendingIndex } = args.orderId
  const positionId = await tx.scope.findPositionByHandle(updateHandleOf(traderOf(user), pendingIndex))
  if (positionId === undefined) return
  await tx.scope.addPositionEvent(positionId, { ...tx.placeOf(logIndex), kind: 'updateEnded', pendingIndex })
}

export function updateHandleOf(trader: Address, pendingIndex: number): UpdateHandle {
  return `pending:${trader}:${pendingIndex}`
}
