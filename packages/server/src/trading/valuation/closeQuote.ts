import { positionSizeCollateral } from './collateralAmounts.ts'
import type { Market, Moment, Position, Trade } from './chainState.ts'
import { priceClose, type PriceImpact } from './executionPrice.ts'
import { rawTradingFeeCollateral, tieredFeeCollateral } from './fees.ts'
import { carriedFeesCollateral } from './holdingFees.ts'
import { profitP, tradeValueCollateral } from './profit.ts'
import { HUNDRED_PERCENT } from './scales.ts'

// As contracts/src/callbacks/Closing.sol and DecreasePositionSize.sol compute it.

/** What closing a whole position would come to. */
export interface CloseQuote {
  readonly impact: PriceImpact
  /** 1e10 per percent of the collateral, at the execution price. */
  readonly profitP: bigint
  readonly closingFeeCollateral: bigint
  /** amountSentToTrader. */
  readonly payoutCollateral: bigint
}

/** What closing a part of it would come to; its holding and earlier fees stay with the rest. */
export interface PartialCloseQuote {
  readonly impact: PriceImpact
  readonly closingFeeCollateral: bigint
  /** Profit or loss of the part, before its closing fee. */
  readonly rawPnlCollateral: bigint
}

/**
 * Prices the close twice: first as if there were no profit to protect, and when that leaves one, with the protection factor.
 * `currentPrice` is the one at which holding fees accrue: the oracle's own, except when a trigger executes at another.
 */
export function quoteClose(
  position: Position,
  oraclePrice: bigint,
  market: Market,
  moment: Moment,
  currentPrice: bigint = oraclePrice,
): CloseQuote {
  const { trade, info } = position
  const { pair, collateral } = market
  const closingFeeCollateral = closingFee(trade, market)
  const owed = closingFeeCollateral + carriedFeesCollateral(position, pair, collateral, currentPrice, moment.timestampS)
  const payoutAt = ({ priceAfterImpact }: PriceImpact): bigint =>
    tradeValueCollateral(trade.collateralAmount, profitP(trade, priceAfterImpact), owed, collateral)

  let impact = priceClose(trade, info, oraclePrice, false, market, moment)
  if (payoutAt(impact) > trade.collateralAmount) impact = priceClose(trade, info, oraclePrice, true, market, moment)
  return {
    impact,
    profitP: profitP(trade, impact.priceAfterImpact),
    closingFeeCollateral,
    payoutCollateral: payoutAt(impact),
  }
}

/** `part` comes from partialClose.ts; it has a profit to protect when its own PnL exceeds its own closing fee. */
export function quotePartialClose(
  position: Position,
  part: Trade,
  oraclePrice: bigint,
  market: Market,
  moment: Moment,
): PartialCloseQuote {
  const closingFeeCollateral = closingFee(part, market)
  let impact = priceClose(part, position.info, oraclePrice, false, market, moment)
  if (rawPnl(part, impact) > closingFeeCollateral) {
    impact = priceClose(part, position.info, oraclePrice, true, market, moment)
  }
  return { impact, closingFeeCollateral, rawPnlCollateral: rawPnl(part, impact) }
}

function rawPnl(part: Trade, { priceAfterImpact }: PriceImpact): bigint {
  return (part.collateralAmount * profitP(part, priceAfterImpact)) / HUNDRED_PERCENT
}

function closingFee(trade: Trade, { listing, collateral, terms }: Market): bigint {
  const rawFee = rawTradingFeeCollateral(positionSizeCollateral(trade), trade.isCounterTrade, listing, collateral)
  return tieredFeeCollateral(rawFee, terms)
}
