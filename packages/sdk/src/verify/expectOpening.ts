import { TradeType, type OrderType, type Side } from '@bezel/protocol/wire'
import { zeroAddress } from 'viem'
import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import type { CallReader } from './createCallReader.ts'
import { collateralRange } from './collateralRange.ts'
import { isSame } from './decodeCalls.ts'
import { expectPrice, expectSame, expectWithin } from './expect.ts'
import { LEVERAGE_DECIMALS, scaled, slippageUnits, triggerUnits } from './scales.ts'
import type { VerifyContext } from './verifyContext.ts'

/** A new trade or resting order, as it was asked for. */
export interface OpeningTerms {
  readonly side: Side
  readonly type: OrderType
  readonly size: string
  readonly leverage: string
  /** `undefined`: the market's. */
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

/** The next call is the `openTrade` of these terms, down to the last field of its struct. */
export function expectOpening(calls: CallReader, terms: OpeningTerms, context: VerifyContext): void {
  const [trade, maxSlippageP, referrer] = calls.next('openTrade')
  const { __placeholder: placeholder } = trade
  const slippage = slippageUnits(terms.slippage)
  const leverage = scaled('leverage', terms.leverage, LEVERAGE_DECIMALS)
  if (!isSame(trade.user, context.trader)) throw new UnverifiedTransactionError('trader', context.trader, trade.user)
  expectSame('market', context.market.pairIndex, trade.pairIndex)
  expectSame('side', terms.side === 'long', trade.long)
  expectSame('type', TRADE_TYPES[terms.type], trade.tradeType)
  expectSame('collateral', context.collateral.index, trade.collateralIndex)
  expectSame('leverage', leverage, trade.leverage)
  expectPrice(terms.price, slippage, context, trade.openPrice)
  const range = collateralRange({ size: terms.size, price: trade.openPrice, leverage }, context.collateral)
  expectWithin('collateralAmount', range, trade.collateralAmount)
  expectSame('tp', triggerUnits('tp', terms.tp), trade.tp)
  expectSame('sl', triggerUnits('sl', terms.sl), trade.sl)
  expectSame('slippage', slippage, maxSlippageP)
  expectSame('referrer', zeroAddress, referrer)
  // What the Diamond fills in itself.
  expectSame('index', 0, trade.index)
  expectSame('isOpen', true, trade.isOpen)
  expectSame('isCounterTrade', false, trade.isCounterTrade)
  expectSame('positionSizeToken', 0n, trade.positionSizeToken)
  expectSame('placeholder', 0, placeholder)
}
