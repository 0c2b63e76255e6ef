import { BaseSize, Leverage, Price, TradeType, type Order, type Position } from '@bezel/protocol/wire'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { collateralUnits, scaled, triggerUnits } from './scales.ts'
import type { TradeFacts, VerifyContext } from './verifyContext.ts'

/**
 * Checks that the trade of an index looks exactly like the position. Without a reader of the chain it returns
 * `undefined`, and the service is trusted with which trade is meant.
 */
export function expectPositionIndex(index: number, position: Position, context: VerifyContext): TradeFacts | undefined {
  if (context.onChain === undefined) return undefined
  const { decimals } = context.collateral
  const trade = tradeAt(index, context)
  const isIt =
    isSameMarket(trade, position, context) &&
    trade.tradeType === TradeType.TRADE &&
    trade.collateralAmount === collateralUnits('collateral', position.collateral, decimals) &&
    BigInt(trade.leverage) === scaled('leverage', position.leverage, Leverage) &&
    trade.openPrice === scaled('entryPrice', position.entryPrice, Price) &&
    trade.tp === triggerUnits('tp', position.tp) &&
    trade.sl === triggerUnits('sl', position.sl) &&
    (trade.size === undefined || trade.size === scaled('size', position.size, BaseSize))
  if (!isIt) throw otherTrade(index, `position ${position.id}`, trade)
  return trade
}

/**
 * Checks that the trade of an index looks like the resting order. The collateral is not compared: it follows from the
 * impact and the token's price at the time when the order was placed.
 */
export function expectOrderIndex(index: number, order: Order, context: VerifyContext): TradeFacts | undefined {
  if (context.onChain === undefined) return undefined
  const trade = tradeAt(index, context)
  const isIt =
    isSameMarket(trade, order, context) &&
    trade.tradeType === (order.type === 'limit' ? TradeType.LIMIT : TradeType.STOP) &&
    BigInt(trade.leverage) === scaled('leverage', order.leverage, Leverage) &&
    trade.openPrice === triggerUnits('price', order.price) &&
    trade.tp === triggerUnits('tp', order.tp) &&
    trade.sl === triggerUnits('sl', order.sl)
  if (!isIt) throw otherTrade(index, `order ${order.id}`, trade)
  return trade
}

function tradeAt(index: number, { onChain, trader }: VerifyContext): TradeFacts {
  const trade = onChain?.trades.find((candidate) => candidate.index === index)
  if (trade !== undefined) return trade
  throw new UnverifiedTransactionError('trade index', `one of the trades of ${trader} on the chain`, String(index))
}

function isSameMarket(
  trade: TradeFacts,
  { side }: Pick<Order, 'side'>,
  { market, collateral }: VerifyContext,
): boolean {
  return (
    trade.pairIndex === market.pairIndex &&
    trade.long === (side === 'long') &&
    trade.collateralIndex === collateral.index
  )
}

function otherTrade(index: number, what: string, trade: TradeFacts): UnverifiedTransactionError {
  const { pairIndex, long, leverage, tradeType } = trade
  const found = `${index}, on the chain a trade of pair ${pairIndex}, ${long ? 'long' : 'short'}, type ${tradeType}, leverage ${leverage}`
  return new UnverifiedTransactionError('trade index', `the trade that looks as ${what} does`, found)
}
