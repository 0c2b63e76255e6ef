import { Leverage, TradeType, type OrderType, type Side } from '@bezel/protocol/wire'
import { zeroAddress } from 'viem'
import { UnverifiedTransactionError } from '../errors/transactionErrors.ts'
import { type CallReader, isSameAddress } from './decodeCalls.ts'
import { expectPrice, expectSame } from './expect.ts'
import { expectAmount } from './expectAmount.ts'
import { scaled, slippageUnits, triggerUnits } from './scales.ts'
import type { VerifyContext } from './verifyContext.ts'

/** The terms of a new trade or resting order, as requested. */
export interface OpeningToVerify {
  readonly side: Side
  readonly type: OrderType
  readonly size: string
  readonly leverage: string
  /** Price of the order; `undefined` means the market's price. */
  readonly price: string | undefined
  readonly sl: string | null | undefined
  readonly tp: string | null | undefined
  readonly slippage: string | undefined
}

const TRADE_TYPES: Readonly<Record<OrderType, number>> = {
  market: TradeType.TRADE,
  limit: TradeType.LIMIT,
  stop: TradeType.STOP,
}

/** Checks that the next call is the `openTrade` of these terms, down to the last field of its struct. */
export function expectOpening(calls: CallReader, terms: OpeningToVerify, context: VerifyContext): void {
  const [trade, maxSlippageP, referrer] = calls.next('openTrade')
  const { __placeholder: placeholder } = trade
  const slippage = slippageUnits(terms.slippage)
  if (!isSameAddress(trade.user, context.trader))
    throw new UnverifiedTransactionError('trader', context.trader, trade.user)
  expectSame('market', context.market.pairIndex, trade.pairIndex)
  expectSame('side', terms.side === 'long', trade.long)
  expectSame('type', TRADE_TYPES[terms.type], trade.tradeType)
  expectSame('collateral', context.collateral.index, trade.collateralIndex)
  expectSame('leverage', scaled('leverage', terms.leverage, Leverage), trade.leverage)
  expectPrice(terms.price, slippage, context, trade.openPrice)
  expectAmount(terms, trade.openPrice, context, trade.collateralAmount)
  expectSame('tp', triggerUnits('tp', terms.tp), trade.tp)
  expectSame('sl', triggerUnits('sl', terms.sl), trade.sl)
  expectSame('slippage', slippage, maxSlippageP)
  expectSame('referrer', zeroAddress, referrer)
  // Fields that the Diamond fills in itself.
  expectSame('index', 0, trade.index)
  expectSame('isOpen', true, trade.isOpen)
  expectSame('isCounterTrade', false, trade.isCounterTrade)
  expectSame('positionSizeToken', 0n, trade.positionSizeToken)
  expectSame('placeholder', 0, placeholder)
}
