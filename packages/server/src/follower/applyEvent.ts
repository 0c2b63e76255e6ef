import { TradeType } from '@bezel/protocol'
import { applyCanceled, applyReclaimed, applyUpdated } from './applyChange.ts'
import { applyLimitExecuted, applyMarketExecuted } from './applyExecuted.ts'
import { applyOpened } from './applyOpened.ts'
import { applyRefused } from './applyRefused.ts'
import { applyPlaced, applyRequest } from './applyRequest.ts'
import { applyLeverageExecuted, applyPositionUpdated, applySizeExecuted } from './applyResized.ts'
import type { PlacedEvent } from '../chain/chainBlock.ts'
import { positionNewsOf } from './positionEvents.ts'
import { traderOf, type TransactionScope } from './transactionScope.ts'

/** Which function takes which event. `at` is the event's place in its transaction. */
export async function applyEvent(tx: TransactionScope, event: PlacedEvent, at: number): Promise<void> {
  switch (event.name) {
    case 'PendingOrderStored':
      return applyRequest(tx, event)
    case 'TradeStored':
      return event.args.trade.tradeType === TradeType.TRADE ? applyOpened(tx, event, at) : applyPlaced(tx, event)
    case 'OpenOrderDetailsUpdated':
      return applyUpdated(tx, event)
    case 'OpenLimitCanceled':
      return applyCanceled(tx, event)
    case 'ChainlinkCallbackTimeout':
      return applyReclaimed(tx, event)
    case 'MarketExecuted':
      return applyMarketExecuted(tx, event, at)
    case 'LimitExecuted':
      return applyLimitExecuted(tx, event, at)
    case 'MarketOpenCanceled':
    case 'MarketCloseCanceled':
      return applyRefused(tx, event)
    case 'PositionSizeIncreaseExecuted':
    case 'PositionSizeDecreaseExecuted':
      return applySizeExecuted(tx, event)
    case 'LeverageUpdateExecuted':
      return applyLeverageExecuted(tx, event)
    case 'TradePositionUpdated':
      return applyPositionUpdated(tx, event)
    case 'FeesProcessed':
      // Read by the execution that it belongs to.
      return undefined
    default:
      return applyPositionNews(tx, event)
  }
}

/** News of a resting order, or of a position opened before the follower began, are none of a position that is known. */
async function applyPositionNews(tx: TransactionScope, event: PlacedEvent): Promise<void> {
  const news = positionNewsOf(event)
  if (news === undefined) return
  const positionId = await tx.scope.positionOf(traderOf(news.trader), news.tradeIndex)
  if (positionId === undefined) return
  await tx.scope.addPositionEvent(positionId, { ...tx.placeOf(event.logIndex), ...news.body })
}
