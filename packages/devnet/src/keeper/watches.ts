import { PendingOrderType, TradeType, type diamondAbi } from '@bezel/protocol'
import type { ContractFunctionReturnType } from 'viem'
import type { AnswerPrices } from '../oracle/packAnswer.ts'

export type OpenTrade = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getAllTrades'>[number]
export type OpenTradeInfo = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getAllTradeInfos'>[number]

/** One way in which an open trade or resting order can be triggered. */
export interface Watch {
  /** The same as long as nothing about the trigger changed. */
  readonly key: string
  readonly trade: OpenTrade
  readonly orderType: number
  /** A limit or stop order that opens; else something that closes. */
  readonly isOpening: boolean
  readonly priceKind: 'mark' | 'index'
  /** 1e10; 0 for a liquidation, whose price only the Diamond knows. */
  readonly triggerPrice: bigint
  /** Prices count from this block on. */
  readonly fromBlock: number
  /** Prices since `fromBlock`, up to `candleToMs`. */
  candle?: AnswerPrices
  candleToMs?: number
  triggeredAtBlock?: number
}

type Trigger = Pick<Watch, 'orderType' | 'triggerPrice' | 'fromBlock'>

/** Everything that can trigger on a trade as it stands. */
export function watchesOf(trade: OpenTrade, info: OpenTradeInfo): Watch[] {
  return triggersOf(trade, info).map((trigger) => ({
    ...trigger,
    trade,
    isOpening: trade.tradeType !== TradeType.TRADE,
    priceKind: trigger.orderType === PendingOrderType.LIQ_CLOSE ? 'index' : 'mark',
    key: [trade.user, trade.index, trade.collateralAmount, trade.leverage, ...Object.values(trigger)].join(':'),
  }))
}

function triggersOf(trade: OpenTrade, info: OpenTradeInfo): Trigger[] {
  const { createdBlock, tpLastUpdatedBlock, slLastUpdatedBlock } = info
  if (trade.tradeType !== TradeType.TRADE) {
    const orderType = trade.tradeType === TradeType.LIMIT ? PendingOrderType.LIMIT_OPEN : PendingOrderType.STOP_OPEN
    return [{ orderType, triggerPrice: trade.openPrice, fromBlock: createdBlock }]
  }
  const triggers: Trigger[] = [
    { orderType: PendingOrderType.TP_CLOSE, triggerPrice: trade.tp, fromBlock: tpLastUpdatedBlock },
    { orderType: PendingOrderType.SL_CLOSE, triggerPrice: trade.sl, fromBlock: slLastUpdatedBlock },
  ]
  const liquidation = { orderType: PendingOrderType.LIQ_CLOSE, triggerPrice: 0n, fromBlock: createdBlock }
  return [...triggers.filter(({ triggerPrice }) => triggerPrice > 0n), liquidation]
}
