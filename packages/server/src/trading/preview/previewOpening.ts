import {
  CollateralAmount,
  ContractsVersion,
  Leverage,
  Price,
  Slippage,
  Usd,
  type Address,
  type OrderPreview,
} from '@bezel/protocol'
import { sizeDecimal, triggerDecimal } from '../market/amounts.ts'
import type { ListedMarket } from '../market/chainMarkets.ts'
import type { OrderRequest } from '../orders/orderModel.ts'
import { collateralAt, marketOfPair } from '../plan/listed.ts'
import type { OrderPlan, TradingContext } from '../plan/plan.ts'
import { expectedPrice } from '../plan/planCreateOrder.ts'
import { refuseUnpriced, sizingOf } from '../plan/planOpening.ts'
import type { Market, PairState } from '../valuation/chainState.ts'
import { clampStopLoss } from '../valuation/liquidation.ts'
import { marketPrice, oraclePriceAt } from '../valuation/priceImpact.ts'
import { isTriggerReached } from '../valuation/promisedSize.ts'
import { quoteOpen } from '../valuation/quotes.ts'
import { openingRefusal } from '../valuation/refusals.ts'
import { effectiveLeverage } from '../valuation/resizing.ts'
import { feeRateOf, marketOfTrade, pausedReason, ratesOf, type AccountFields } from './previewed.ts'

/**
 * Previews an order that opens a position: the quote of what its plan asks the Diamond for. While nothing moves, the
 * fill has these numbers; an order that rests is quoted at the price at which its trigger is reached.
 */
export function previewOpening(
  { request, action, takes, warnings }: OrderPlan,
  trader: Address,
  context: TradingContext,
): Omit<OrderPreview, AccountFields> {
  const market = marketOfPair(context.chain, request.pairIndex)
  const collateral = collateralAt(context.chain, request.collateralIndex)
  const trigger = expectedPrice(request, market, context)
  const { long, moment } = sizingOf({ ...request, market, price: trigger, trader }, context)
  const valuation = marketOfTrade({ trader, market, collateralIndex: collateral.index }, context)
  const oraclePrice = executionPrice(request, market, trigger, valuation.pair, context)
  const stops = stopsOf(request, trigger, valuation)
  const trade = {
    long,
    collateralAmount: takes!.amount,
    leverage: Number(Leverage.parse(request.leverage)!),
    isCounterTrade: false,
    ...stops,
  }
  const quote = refuseUnpriced(() => quoteOpen(trade, oraclePrice, valuation, moment))
  const { impact, openingFeeCollateral, liquidationPrice } = quote
  const asked = { expected: trigger, slippage: Slippage.parse(request.slippage)! }
  const reason =
    pausedReason(context.chain, { isClose: false }) ??
    openingRefusal(trade, quote, oraclePrice, asked, market.maxLeverage, valuation)
  const opened = { ...trade, openPrice: impact.priceAfterImpact }
  const effective = effectiveLeverage(opened, openingFeeCollateral, oraclePrice, collateral.state)
  const text = (amount: CollateralAmount): string => CollateralAmount.format(amount, collateral.decimals)
  return {
    market: request.market,
    side: request.side,
    type: request.type,
    reduceOnly: false,
    size: reason === null ? sizeDecimal(impact, { collateralPriceUsd: collateral.state.priceUsd }) : '0',
    notionalUsd: Usd.format(action.spendUsd),
    leverage: request.leverage,
    effectiveLeverage: effective === undefined ? null : Leverage.format(effective),
    collateral: text(trade.collateralAmount),
    collateralSymbol: collateral.symbol,
    slippage: request.slippage,
    oraclePrice: Price.format(oraclePrice),
    price: Price.format(impact.priceAfterImpact),
    ...ratesOf(long, [impact]),
    feeCollateral: text(openingFeeCollateral),
    feeRate: feeRateOf([trade], valuation),
    deposit: text(trade.collateralAmount),
    payout: '0',
    pnl: '0',
    fundingFee: '0',
    borrowingFee: '0',
    liquidationPrice: Price.format(liquidationPrice),
    sl: triggerDecimal(clampStopLoss(opened, valuation.listing.liquidationParams, valuation.listing)),
    tp: triggerDecimal(trade.tp),
    legs: [],
    reason,
    warnings: [...warnings],
    priceAt: context.lastMarkOf(market).atMs,
    block: context.chain.moment.blockNumber,
  }
}

/**
 * Returns the oracle's price at which the order executes: the mark, also for an order whose trigger the market price
 * has passed; otherwise the price at which that happens.
 */
function executionPrice(
  { type, side }: OrderRequest,
  market: ListedMarket,
  trigger: Price,
  pair: PairState,
  { markOf }: TradingContext,
): Price {
  const mark = markOf(market)
  if (type === 'market') return mark
  const reached = marketPrice(mark, ContractsVersion.V10, pair)
  return isTriggerReached(type, side === 'long', reached, trigger) ? mark : oraclePriceAt(trigger, pair)
}

/** Returns the stops of the trade when the oracle answers: a resting order's was clamped when it was placed. */
function stopsOf(
  { type, side, leverage, sl: slText, tp }: OrderRequest,
  trigger: Price,
  { listing }: Market,
): { readonly sl: Price; readonly tp: Price } {
  const asked = slText === null ? Price.zero : Price.parse(slText)!
  const resting = {
    long: side === 'long',
    openPrice: trigger,
    leverage: Number(Leverage.parse(leverage)!),
    isCounterTrade: false,
    sl: asked,
  }
  return {
    sl: type === 'market' ? asked : clampStopLoss(resting, listing.liquidationParams, listing),
    tp: tp === null ? Price.zero : Price.parse(tp)!,
  }
}
