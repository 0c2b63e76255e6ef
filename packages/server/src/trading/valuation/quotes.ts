import { CollateralAmount, HUNDRED_PERCENT, type PercentP, type Price } from '@bezel/protocol'
import type { Market, Moment, ValuedPosition, Trade } from './chainState.ts'
import { positionSizeCollateral } from './collateralAmounts.ts'
import { rawTradingFeeCollateral, tieredFeeCollateral } from './fees.ts'
import { carriedFeesCollateral } from './holdingFees.ts'
import { liquidationPriceAtOpen } from './liquidation.ts'
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
  const impact = priceOpen(trade.long, positionSizeCollateral(trade), oraclePrice, market, moment)
  return {
    impact,
    openingFeeCollateral: tradingFee(trade, market),
    liquidationPrice: liquidationPriceAtOpen({ ...trade, openPrice: impact.priceAfterImpact }, market),
    isImpactTooHigh: isImpactTooHigh(impact, trade.long, trade.leverage),
  }
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
 * Quotes a close. It is priced first as if there were no profit to protect, and again with the protection factor when
 * that leaves a profit. Holding fees accrue at `currentPrice`: the oracle's own, except when a trigger executes at
 * another price.
 */
export function quoteClose(
  position: ValuedPosition,
  oraclePrice: Price,
  market: Market,
  moment: Moment,
  currentPrice: Price = oraclePrice,
): CloseQuote {
  const { trade, info } = position
  const { pair, collateral } = market
  const closingFeeCollateral = tradingFee(trade, market)
  const owed = closingFeeCollateral + carriedFeesCollateral(position, pair, collateral, currentPrice, moment.timestampS)
  const payoutAt = ({ priceAfterImpact }: PriceImpact): CollateralAmount =>
    tradeValueCollateral(
      trade.collateralAmount,
      profitP(trade, priceAfterImpact),
      CollateralAmount.of(owed),
      collateral,
    )

  let impact = priceClose(trade, info, oraclePrice, false, market, moment)
  if (payoutAt(impact) > trade.collateralAmount) impact = priceClose(trade, info, oraclePrice, true, market, moment)
  return {
    impact,
    profitP: profitP(trade, impact.priceAfterImpact),
    closingFeeCollateral,
    payoutCollateral: payoutAt(impact),
  }
}

/** The expected result of closing a part of a position. Its pending and earlier fees stay with the rest. */
export interface PartialCloseQuote {
  readonly impact: PriceImpact
  readonly closingFeeCollateral: CollateralAmount
  /** Profit or loss of the part, before its closing fee. */
  readonly rawPnlCollateral: CollateralAmount
}

/**
 * Quotes a partial close. `part` comes from resizing.ts; it has a profit to protect when its own PnL exceeds its own
 * closing fee.
 */
export function quotePartialClose(
  position: ValuedPosition,
  part: Trade,
  oraclePrice: Price,
  market: Market,
  moment: Moment,
): PartialCloseQuote {
  const closingFeeCollateral = tradingFee(part, market)
  let impact = priceClose(part, position.info, oraclePrice, false, market, moment)
  if (rawPnl(part, impact) > closingFeeCollateral) {
    impact = priceClose(part, position.info, oraclePrice, true, market, moment)
  }
  return { impact, closingFeeCollateral, rawPnlCollateral: rawPnl(part, impact) }
}

function rawPnl(part: Trade, { priceAfterImpact }: PriceImpact): CollateralAmount {
  return CollateralAmount.of((part.collateralAmount * profitP(part, priceAfterImpact)) / HUNDRED_PERCENT)
}

/** Returns the fee of an open or a close after the trader's tier. */
function tradingFee(trade: NewTrade, { listing, collateral, terms }: Market): CollateralAmount {
  const rawFee = rawTradingFeeCollateral(positionSizeCollateral(trade), trade.isCounterTrade, listing, collateral)
  return tieredFeeCollateral(rawFee, terms)
}
