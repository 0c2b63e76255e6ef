import { CollateralAmount, HUNDRED_PERCENT, TokenSize, type Leverage, type PercentP, type Price } from '@bezel/protocol'
import type { Market, Moment, ValuedPosition, Trade } from './chainState.ts'
import { positionSizeCollateral } from './collateralAmounts.ts'
import { cancelFeeCollateral, rawTradingFeeCollateral, tieredFeeCollateral } from './fees.ts'
import { carriedFeesCollateral } from './holdingFees.ts'
import {
  isLiquidationReached,
  liquidationPrice,
  liquidationPriceAfterChange,
  liquidationPriceAtOpen,
} from './liquidation.ts'
import { isImpactTooHigh, priceClose, priceOpen, type PriceImpact } from './priceImpact.ts'
import { profitP, tradeValueCollateral } from './profit.ts'
import { collateralAtLeverage, effectiveLeverage } from './resizing.ts'

// Quotes of an open, a close, a partial close and a change of leverage, with the formulas of
// contracts/src/callbacks/Opening.sol, Closing.sol, DecreasePositionSize.sol and UpdateLeverage.sol.

/** A trade that does not exist yet. */
type NewTrade = Pick<Trade, 'long' | 'collateralAmount' | 'leverage' | 'isCounterTrade'>

/** The expected result of opening a trade. */
export interface OpenQuote {
  readonly impact: PriceImpact
  /** Opening fee, which becomes a realised trading fee of the position; the collateral stays whole. */
  readonly openingFeeCollateral: CollateralAmount
  readonly liquidationPrice: Price
  /** True when the Diamond refuses the trade because spread and volume impact cost more than 40 % of the collateral. */
  readonly isImpactTooHigh: boolean
}

export function quoteOpen(trade: NewTrade, oraclePrice: Price, market: Market, moment: Moment): OpenQuote {
  const sizeCollateral = positionSizeCollateral(trade)
  const impact = priceOpen(trade.long, sizeCollateral, oraclePrice, market, moment)
  const openingFeeCollateral = tradingFeeCollateral(sizeCollateral, trade.isCounterTrade, market)
  const opened = { ...trade, openPrice: impact.priceAfterImpact }
  return {
    impact,
    openingFeeCollateral,
    liquidationPrice: liquidationPriceAtOpen(opened, openingFeeCollateral, market),
    isImpactTooHigh: isImpactTooHigh(impact, trade.long, trade.leverage),
  }
}

/** Returns the fee of opening or closing that size, after the trader's tier. */
export function tradingFeeCollateral(
  sizeCollateral: CollateralAmount,
  isCounterTrade: boolean,
  { listing, collateral, terms }: Market,
): CollateralAmount {
  return tieredFeeCollateral(rawTradingFeeCollateral(sizeCollateral, isCounterTrade, listing, collateral), terms)
}

/** The expected result of closing a whole position. */
export interface CloseQuote {
  readonly impact: PriceImpact
  /** Profit in percent of the collateral, at the execution price. */
  readonly profitP: PercentP
  readonly closingFeeCollateral: CollateralAmount
  /** Amount that the trader receives (amountSentToTrader). */
  readonly payoutCollateral: CollateralAmount
}

/**
 * Quotes a close. Holding fees accrue at `currentPrice`: the oracle's own, except when a trigger executes at another
 * price. Beyond its liquidation price nothing is left of a position, whatever closes it.
 */
export function quoteClose(
  position: ValuedPosition,
  oraclePrice: Price,
  market: Market,
  moment: Moment,
  currentPrice: Price = oraclePrice,
): CloseQuote {
  const { trade } = position
  const owed = carriedFeesCollateral(position, market.pair, market.collateral, currentPrice, moment)
  const sizeCollateral = positionSizeCollateral(trade)
  const closingFeeCollateral = tradingFeeCollateral(sizeCollateral, trade.isCounterTrade, market)
  const impact = closeImpact(position, sizeCollateral, oraclePrice, market, moment, owed)
  const liqPrice = liquidationPrice(position, market, currentPrice, moment)
  return {
    impact,
    profitP: profitP(trade, impact.priceAfterImpact),
    closingFeeCollateral,
    payoutCollateral: isLiquidationReached(liqPrice, trade.long, oraclePrice)
      ? CollateralAmount.zero
      : worthAt(trade, impact, CollateralAmount.of(closingFeeCollateral + owed), market),
  }
}

/** The expected result of closing a part of a position. */
export interface PartialCloseQuote {
  readonly impact: PriceImpact
  /** Profit of the whole position in percent of its collateral, at the execution price. */
  readonly profitP: PercentP
  readonly closingFeeCollateral: CollateralAmount
  /** The part's share of the profit or loss, before any fee. */
  readonly rawPnlCollateral: CollateralAmount
  /** The part's share of that with holding fees and all that was realised before, without the closing fee. */
  readonly netPnlCollateral: CollateralAmount
}

/** Quotes a partial close. `part` comes from resizing.ts. */
export function quotePartialClose(
  position: ValuedPosition,
  part: Trade,
  oraclePrice: Price,
  market: Market,
  moment: Moment,
): PartialCloseQuote {
  const { trade } = position
  const owed = carriedFeesCollateral(position, market.pair, market.collateral, oraclePrice, moment)
  const closed = positionSizeCollateral(part)
  const whole = positionSizeCollateral(trade)
  const impact = closeImpact(position, closed, oraclePrice, market, moment, owed)
  const pnlP = profitP(trade, impact.priceAfterImpact)
  const gained = worthAt(trade, impact, owed, market) - trade.collateralAmount
  return {
    impact,
    profitP: pnlP,
    closingFeeCollateral: tradingFeeCollateral(closed, trade.isCounterTrade, market),
    rawPnlCollateral: CollateralAmount.of((pnlP * trade.collateralAmount * closed) / whole / HUNDRED_PERCENT),
    netPnlCollateral: CollateralAmount.of((gained * closed) / whole),
  }
}

/** Scale of the share of a position that a partial close leaves. */
const WHOLE_POSITION = 10n ** 18n

/** The position that a partial close by collateral leaves. */
export interface RestQuote {
  readonly trade: Trade
  /** Liquidation price that the Diamond tells with the close, before it rounds the record of the rest. */
  readonly liquidationPrice: Price
  /** Holding fees less what was realised, as far as they stay with the rest. */
  readonly carriedCollateral: CollateralAmount
}

/** Quotes what is left when `part`, of the position's own leverage, closes with that impact. */
export function quoteRest(
  position: ValuedPosition,
  part: Trade,
  { positionSizeToken }: Pick<PriceImpact, 'positionSizeToken'>,
  oraclePrice: Price,
  market: Market,
  moment: Moment,
): RestQuote {
  const { trade } = position
  const whole = positionSizeCollateral(trade)
  const left = ((whole - positionSizeCollateral(part)) * WHOLE_POSITION) / whole
  const carried = carriedFeesCollateral(position, market.pair, market.collateral, oraclePrice, moment)
  const carriedCollateral = CollateralAmount.of((carried * left) / WHOLE_POSITION)
  const rest: Trade = {
    ...trade,
    collateralAmount: CollateralAmount.of(trade.collateralAmount - part.collateralAmount),
    positionSizeToken: TokenSize.of(trade.positionSizeToken - positionSizeToken),
  }
  return {
    trade: rest,
    liquidationPrice: liquidationPriceAfterChange(carriedCollateral, rest, position.liquidationParams, market),
    carriedCollateral,
  }
}

/** The expected result of a change of leverage, which keeps the size. */
export interface LeverageQuote {
  /** The trade after it. */
  readonly trade: Trade
  readonly feeCollateral: CollateralAmount
  readonly liquidationPriceBefore: Price
  readonly liquidationPrice: Price
  /** Leverage relative to what the position is worth; `undefined` when that is nothing. */
  readonly effectiveLeverage: Leverage | undefined
}

/** Quotes a change of leverage. `govFeeP` is governance's share of a fee, 1e3 per percent. */
export function quoteLeverage(
  position: ValuedPosition,
  leverage: Leverage,
  govFeeP: number,
  oraclePrice: Price,
  market: Market,
  moment: Moment,
): LeverageQuote {
  const { trade: before, liquidationParams } = position
  const trade = { ...before, leverage: Number(leverage), collateralAmount: collateralAtLeverage(before, leverage) }
  const feeCollateral = cancelFeeCollateral(govFeeP, market)
  const carried = carriedFeesCollateral(position, market.pair, market.collateral, oraclePrice, moment)
  const owed = CollateralAmount.of(carried + feeCollateral)
  return {
    trade,
    feeCollateral,
    liquidationPriceBefore: liquidationPrice(position, market, oraclePrice, moment),
    liquidationPrice: liquidationPriceAfterChange(owed, trade, liquidationParams, market),
    effectiveLeverage: effectiveLeverage(trade, owed, oraclePrice, market.collateral),
  }
}

/**
 * Prices a close of that size: first as if there were no profit to protect, and again with the protection factor when
 * closing the whole position at the first price would leave one. `owed` is what the position carries.
 */
function closeImpact(
  { trade, info }: ValuedPosition,
  sizeCollateral: CollateralAmount,
  oraclePrice: Price,
  market: Market,
  moment: Moment,
  owed: CollateralAmount,
): PriceImpact {
  const impact = priceClose(trade, sizeCollateral, info, oraclePrice, false, market, moment)
  const fee = tradingFeeCollateral(positionSizeCollateral(trade), trade.isCounterTrade, market)
  const worth = worthAt(trade, impact, CollateralAmount.of(fee + owed), market)
  if (worth <= trade.collateralAmount) return impact
  return priceClose(trade, sizeCollateral, info, oraclePrice, true, market, moment)
}

function worthAt(
  trade: Trade,
  { priceAfterImpact }: PriceImpact,
  owed: CollateralAmount,
  { collateral }: Market,
): CollateralAmount {
  return tradeValueCollateral(trade.collateralAmount, profitP(trade, priceAfterImpact), owed, collateral)
}
