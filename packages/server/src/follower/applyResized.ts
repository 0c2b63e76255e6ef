import { CancelReason, PendingOrderType, type FillAction } from '@bezel/protocol'
import { magnitude } from '../trading/valuation/scales.ts'
import type { LiquidationParams } from '../trading/valuation/chainState.ts'
import type { PositionState } from '../trading/positions/positionModel.ts'
import type { EventOf } from '../chain/events/index.ts'
import { orderByHandle } from './addByHandle.ts'
import { tokensDecimal } from '../trading/amounts.ts'
import { addExecuted } from './applyExecuted.ts'
import { applyRefused } from './applyRefused.ts'
import type { PlacedEvent } from '../chain/chainBlock.ts'
import { sideOf } from '../chain/creation.ts'
import { addFill, type Execution } from './execution.ts'
import { resizedBody } from './positionEvents.ts'
import { traderOf, type TransactionScope } from './transactionScope.ts'

type SizeExecuted = EventOf<'PositionSizeIncreaseExecuted' | 'PositionSizeDecreaseExecuted'> & PlacedEvent

/** A position has new numbers. The event that tells why, and at which price, follows it. */
export async function applyPositionUpdated(
  tx: TransactionScope,
  event: EventOf<'TradePositionUpdated'> & PlacedEvent,
): Promise<void> {
  const { user, index, pendingOrderType } = event.args
  const positionId = await tx.scope.positionOf(traderOf(user), index)
  const before = positionId === undefined ? undefined : await tx.scope.stateOf(positionId)
  if (positionId === undefined || before === undefined) return
  tx.tokensBefore.set(positionId, before.trade.positionSizeToken)
  const renewed = pendingOrderType === PendingOrderType.MARKET_PARTIAL_OPEN ? renewedParams(tx, before) : null
  await tx.scope.addPositionEvent(positionId, { ...tx.placeOf(event.logIndex), ...resizedBody(event, renewed) })
}

/**
 * An increase takes over the liquidation parameters that the pair's group has at the time. No event tells them, so those that were last read
 * stand for them: they change by governance alone.
 */
function renewedParams({ scope }: TransactionScope, { trade, liquidationParams }: PositionState): LiquidationParams {
  return scope.markets.pairs.get(trade.pairIndex)?.listing.liquidationParams ?? liquidationParams
}

/** A size increase or a partial close is done, or refused. */
export async function applySizeExecuted(tx: TransactionScope, event: SizeExecuted): Promise<void> {
  const { cancelReason, orderId: request } = event.args
  if (cancelReason !== CancelReason.NONE) return applyRefused(tx, event)
  const execution = await executionOf(tx, event)
  if (execution === undefined) return
  await addFill(tx, execution)
  const orderId = await orderByHandle(tx, request.user, `pending:${request.index}`)
  if (orderId !== undefined) await addExecuted(tx, orderId, execution, request.index)
}

async function executionOf(tx: TransactionScope, event: SizeExecuted): Promise<Execution | undefined> {
  const { args, logIndex } = event
  const base = await onPosition(tx, args)
  if (base === undefined) return undefined
  const shared = {
    ...base,
    side: sideOf(args.long),
    price: args.values.priceImpact.priceAfterImpact,
    collateralAmount: args.collateralDelta,
    logIndex,
  }
  return event.name === 'PositionSizeIncreaseExecuted'
    ? {
        ...shared,
        action: 'TradePosSizeIncrease',
        feeCollateral: event.args.values.openingFeesCollateral,
        pnlCollateral: 0n,
      }
    : {
        ...shared,
        action: 'TradePosSizeDecrease',
        feeCollateral: event.args.values.closingFeeCollateral,
        pnlCollateral: event.args.values.partialRawPnlCollateral,
      }
}

/** A leverage update is done: nothing was traded, but the history of the trader tells it. */
export async function applyLeverageExecuted(
  tx: TransactionScope,
  { args, logIndex }: EventOf<'LeverageUpdateExecuted'> & PlacedEvent,
): Promise<void> {
  if (args.cancelReason !== CancelReason.NONE) return
  const positionId = await tx.scope.positionOf(traderOf(args.trader), Number(args.index))
  const position = positionId === undefined ? undefined : await tx.scope.stateOf(positionId)
  if (positionId === undefined || position === undefined) return
  const { trade, info } = position
  const action: FillAction = 'TradeLeverageUpdate'
  await addFill(tx, {
    action,
    trader: args.trader,
    pairIndex: trade.pairIndex,
    collateralIndex: trade.collateralIndex,
    side: sideOf(trade.long),
    price: args.oraclePrice,
    size: tokensDecimal(trade.positionSizeToken, BigInt(info.collateralPriceUsd)),
    collateralAmount: trade.collateralAmount,
    leverage: trade.leverage,
    feeCollateral: args.values.govFeeCollateral,
    pnlCollateral: 0n,
    positionId,
    logIndex,
  })
}

/** What an execution takes from the position as it is now: the size is what its tokens changed by. */
async function onPosition(
  { scope, tokensBefore }: TransactionScope,
  args: { readonly trader: `0x${string}`; readonly index: bigint },
): Promise<
  Pick<Execution, 'trader' | 'pairIndex' | 'collateralIndex' | 'size' | 'leverage' | 'positionId'> | undefined
> {
  const positionId = await scope.positionOf(traderOf(args.trader), Number(args.index))
  const position = positionId === undefined ? undefined : await scope.stateOf(positionId)
  if (positionId === undefined || position === undefined) return undefined
  const { trade, info } = position
  const tokens = magnitude(trade.positionSizeToken - (tokensBefore.get(positionId) ?? trade.positionSizeToken))
  return {
    trader: args.trader,
    pairIndex: trade.pairIndex,
    collateralIndex: trade.collateralIndex,
    size: tokensDecimal(tokens, BigInt(info.collateralPriceUsd)),
    leverage: trade.leverage,
    positionId,
  }
}
