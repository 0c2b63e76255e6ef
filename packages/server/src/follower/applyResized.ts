import { abs, CancelReason, CollateralAmount, max, Price, TokenSize, type FillAction } from '@bezel/protocol'
import type { EventOf } from '../chain/events.ts'
import { findOrderByHandle, traderOf, type TransactionScope } from './transactionScope.ts'
import { sizeDecimal, withTokens } from '../trading/market/amounts.ts'
import { addExecuted } from './applyExecuted.ts'
import { applyRefused } from './applyOrder.ts'
import { addFill, addUpdateRefused, type Execution } from './historyEntries.ts'
import type { PlacedEvent } from '../chain/blocks.ts'
import { sideOf } from '../chain/creation.ts'

type SizeExecuted = EventOf<'PositionSizeIncreaseExecuted' | 'PositionSizeDecreaseExecuted'> & PlacedEvent

/** Records the execution or the refusal of a size increase or a partial close. */
export async function applyPositionSizeExecuted(tx: TransactionScope, event: SizeExecuted): Promise<void> {
  const { cancelReason, orderId: request } = event.args
  if (cancelReason !== CancelReason.NONE) {
    await addRefused(tx, event, event.name === 'PositionSizeIncreaseExecuted' ? event.args.collateralDelta : 0n)
    return applyRefused(tx, event)
  }
  const execution = await readExecution(tx, event)
  if (execution === undefined) return
  await addFill(tx, execution)
  const orderId = await findOrderByHandle(tx, request.user, `pending:${request.index}`)
  if (orderId !== undefined) await addExecuted(tx, orderId, execution, request.index)
}

async function readExecution(tx: TransactionScope, event: SizeExecuted): Promise<Execution | undefined> {
  const { args, logIndex } = event
  const base = await readOnPosition(tx, args)
  if (base === undefined) return undefined
  const shared = {
    ...base,
    side: sideOf(args.long),
    price: Price.of(args.values.priceImpact.priceAfterImpact),
    collateralAmount: CollateralAmount.of(args.collateralDelta),
    logIndex,
  }
  return event.name === 'PositionSizeIncreaseExecuted'
    ? {
        ...shared,
        action: 'TradePosSizeIncrease',
        feeCollateral: CollateralAmount.of(event.args.values.openingFeesCollateral),
        pnlCollateral: CollateralAmount.zero,
        deposit: CollateralAmount.of(args.collateralDelta - event.args.values.counterTradeCollateralToReturn),
        payout: CollateralAmount.zero,
      }
    : {
        ...shared,
        action: 'TradePosSizeDecrease',
        feeCollateral: CollateralAmount.of(event.args.values.closingFeeCollateral),
        pnlCollateral: CollateralAmount.of(event.args.values.partialRawPnlCollateral),
        deposit: CollateralAmount.zero,
        // Below zero where a loss goes to the vault; the trader gets nothing then.
        payout: CollateralAmount.of(max(event.args.values.collateralSentToTrader, 0n)),
      }
}

/** Adds the refusal to the history. `returned` is the collateral that the request had taken from the wallet. */
async function addRefused(
  tx: TransactionScope,
  { args, logIndex }: (SizeExecuted | EventOf<'LeverageUpdateExecuted'>) & PlacedEvent,
  returned: bigint,
): Promise<void> {
  const { trader, index } = args
  await addUpdateRefused(tx, { trader, tradeIndex: Number(index), logIndex, returned: CollateralAmount.of(returned) })
}

/** Records a leverage update as a fill: nothing was traded, but the trader's history shows it. */
export async function applyLeverageUpdateExecuted(
  tx: TransactionScope,
  event: EventOf<'LeverageUpdateExecuted'> & PlacedEvent,
): Promise<void> {
  const { args, logIndex } = event
  const moved = CollateralAmount.of(args.collateralDelta)
  const [deposit, payout] = args.isIncrease ? [CollateralAmount.zero, moved] : [moved, CollateralAmount.zero]
  if (args.cancelReason !== CancelReason.NONE) return addRefused(tx, event, deposit)
  const positionId = await tx.scope.findPosition(traderOf(args.trader), Number(args.index))
  const position = positionId === undefined ? undefined : await tx.scope.readPositionState(positionId)
  if (positionId === undefined || position === undefined) return
  const { trade, info } = position
  const action: FillAction = 'TradeLeverageUpdate'
  await addFill(tx, {
    action,
    trader: args.trader,
    pairIndex: trade.pairIndex,
    collateralIndex: trade.collateralIndex,
    side: sideOf(trade.long),
    price: Price.of(args.oraclePrice),
    size: sizeDecimal(withTokens(tx.scope.markets, trade), info),
    collateralAmount: trade.collateralAmount,
    leverage: trade.leverage,
    feeCollateral: CollateralAmount.of(args.values.govFeeCollateral),
    pnlCollateral: CollateralAmount.zero,
    deposit,
    payout,
    positionId,
    logIndex,
  })
}

/**
 * Returns the fields of an execution that come from the position. The size is the change of its token amount in this
 * transaction.
 */
async function readOnPosition(
  { scope, tokensBefore }: TransactionScope,
  args: { readonly trader: `0x${string}`; readonly index: bigint },
): Promise<
  Pick<Execution, 'trader' | 'pairIndex' | 'collateralIndex' | 'size' | 'leverage' | 'positionId'> | undefined
> {
  const positionId = await scope.findPosition(traderOf(args.trader), Number(args.index))
  const position = positionId === undefined ? undefined : await scope.readPositionState(positionId)
  if (positionId === undefined || position === undefined) return undefined
  const { trade, info } = position
  const after = withTokens(scope.markets, trade).positionSizeToken
  const tokens = abs(after - (tokensBefore.get(positionId) ?? after))
  return {
    trader: args.trader,
    pairIndex: trade.pairIndex,
    collateralIndex: trade.collateralIndex,
    size: sizeDecimal({ positionSizeToken: TokenSize.of(tokens) }, info),
    leverage: trade.leverage,
    positionId,
  }
}
