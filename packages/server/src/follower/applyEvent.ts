import { TradeType } from '@bezel/protocol'
import {
  applyOpenLimitCanceled,
  applyChainlinkCallbackTimeout,
  applyOpenOrderDetailsUpdated,
  applyPlaced,
  applyPendingOrderStored,
  applyMarketCloseCanceled,
  applyMarketOpenCanceled,
} from './applyOrder.ts'
import { applyLimitExecuted, applyMarketExecuted } from './applyExecuted.ts'
import { applyOpened, applyPositionNews, applyTradePositionUpdated } from './applyPosition.ts'
import { applyLeverageUpdateExecuted, applyPositionSizeExecuted } from './applyResized.ts'
import { applyPendingOrderClosed, applyUpdateRefused, applyUpdateRequested } from './applyUpdate.ts'
import { addPnlWithdrawn } from './historyEntries.ts'
import type { PlacedEvent } from '../chain/blocks.ts'
import type { TransactionScope } from './transactionScope.ts'

/** Applies an event with the function for its name. `at` is the index of the event in its transaction. */
export async function applyEvent(tx: TransactionScope, event: PlacedEvent, at: number): Promise<void> {
  switch (event.name) {
    case 'PendingOrderStored':
      await applyUpdateRequested(tx, event)
      return applyPendingOrderStored(tx, event)
    case 'PendingOrderClosed':
      return applyPendingOrderClosed(tx, event)
    case 'TradeStored':
      return event.args.trade.tradeType === TradeType.TRADE ? applyOpened(tx, event, at) : applyPlaced(tx, event)
    case 'OpenOrderDetailsUpdated':
      return applyOpenOrderDetailsUpdated(tx, event)
    case 'OpenLimitCanceled':
      return applyOpenLimitCanceled(tx, event)
    case 'ChainlinkCallbackTimeout':
      return applyChainlinkCallbackTimeout(tx, event)
    case 'MarketExecuted':
      return applyMarketExecuted(tx, event, at)
    case 'LimitExecuted':
      return applyLimitExecuted(tx, event, at)
    case 'MarketOpenCanceled':
      return applyMarketOpenCanceled(tx, event, at)
    case 'MarketCloseCanceled':
      return applyMarketCloseCanceled(tx, event)
    case 'PositionSizeIncreaseExecuted':
      await applyUpdateRefused(tx, event)
      return applyPositionSizeExecuted(tx, event)
    case 'PositionSizeDecreaseExecuted':
      return applyPositionSizeExecuted(tx, event)
    case 'LeverageUpdateExecuted':
      await applyUpdateRefused(tx, event)
      return applyLeverageUpdateExecuted(tx, event)
    case 'TradePositivePnlWithdrawn':
      return addPnlWithdrawn(tx, event)
    case 'TradePositionUpdated':
      return applyTradePositionUpdated(tx, event)
    case 'FeesProcessed':
    case 'GovFeeCharged':
      // Read together with the execution or the refusal that the fee belongs to, in `applyExecuted.ts` and
      // `historyEntries.ts`.
      return undefined
    case 'BorrowingInitialAccFeesStored':
    case 'HoldingFeesChargedOnTrade':
    case 'HoldingFeesRealizedOnTrade':
    case 'PnlRealizedOnOpenTrade':
    case 'TradeClosed':
    case 'TradeCollateralUpdated':
    case 'TradeFeesDataDownscaled':
    case 'TradeInitialAccFeesStored':
    case 'TradeMaxClosingSlippagePUpdated':
    case 'TradeSlUpdated':
    case 'TradeTpUpdated':
    case 'TradingFeesRealized':
      return applyPositionNews(tx, event)
    default:
      return event satisfies never
  }
}
