import { CollateralAmount, HUNDRED_PERCENT, type PercentP, type Price } from '@bezel/protocol'
import type { Market, Moment, ValuedPosition, Trade } from './chainState.ts'
import { positionSizeCollateral } from './collateralAmounts.ts'
import { rawTradingFeeCollateral, tieredFeeCollateral } from './fees.ts'
import { carriedFeesCollateral } from './holdingFees.ts'
import { isLiquidationReached, liquidationPrice, liquidationPriceAtOpen } from './liquidation.ts'
import { isImpactTooHigh, priceClose, priceOpen, type PriceImpact } from './priceImpact.ts'
import { profitP, tradeValueCollateral } from './profit.ts'

// Quotes of an open, a close and a partial close, with the formulas of contracts/src/callbacks/Opening.sol, Closing.sol
// and DecreasePositionSize.sol.

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
