import type { LiquidationParams, PairListing, Trade } from './chainState.ts'
import { feeRateMultiplier } from './fees.ts'
import { liquidationThresholdP } from './liquidation.ts'
import { profitP } from './profit.ts'
import { HUNDRED_PERCENT, larger, ONE_E3 } from './scales.ts'

// As contracts/src/rules/Liquidation.sol computes it.

/** A stop loss stays this much PnL, and both fees, inside the liquidation threshold. */
const LIQUIDATION_BUFFER_P = (5n * HUNDRED_PERCENT) / 100n

/** Largest loss (1e10 per percent) at which a stop loss may stand; 0 when there is no room for one. */
export function maxStopLossP(
  trade: Pick<Trade, 'leverage' | 'isCounterTrade'>,
  params: LiquidationParams,
  listing: PairListing,
): bigint {
  const feeP = (listing.feeP * feeRateMultiplier(listing, trade.isCounterTrade)) / ONE_E3
  const buffer = (2n * feeP * BigInt(trade.leverage)) / ONE_E3 + LIQUIDATION_BUFFER_P
  return larger(liquidationThresholdP(params, trade.leverage) - buffer, 0n)
}

/** The stop loss that the Diamond stores when `trade.sl` is asked for: moved toward the open price where it stands too far; 0: none. */
export function clampStopLoss(trade: Trade, params: LiquidationParams, listing: PairListing): bigint {
  if (trade.sl === 0n) return 0n
  const maxLossP = maxStopLossP(trade, params, listing)
  if (maxLossP === 0n) return 0n
  if (profitP(trade, trade.sl) >= -maxLossP) return trade.sl
  const distance = (trade.openPrice * maxLossP * ONE_E3) / BigInt(trade.leverage) / HUNDRED_PERCENT
  return trade.long ? larger(trade.openPrice - distance, 0n) : trade.openPrice + distance
}
