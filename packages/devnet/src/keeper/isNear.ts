import { PendingOrderType, TradeType } from '@bezel/protocol'
import type { Watch } from './watches.ts'

/** Skew shifts the price that triggers compare; the Diamond caps it far below this. 1 in 50. */
const MARGIN_DIVISOR = 50n
/** A position is looked at closely once it lost this much of its collateral; the lowest threshold in the listing is 65 % less fees. */
const CLOSE_LOOK_LOSS_PERCENT = 25n

/**
 * Whether the Diamond is worth asking: the prices since the last edit came within 2 % of the trigger, or a position is losing. Only
 * saves calls, so it must never say no to something that executes.
 */
export function isNear(watch: Watch): boolean {
  const { candle, orderType, triggerPrice } = watch
  if (candle === undefined) return false
  if (orderType === PendingOrderType.LIQ_CLOSE) return isLosing(watch)
  const margin = triggerPrice / MARGIN_DIVISOR
  return isReachedFromAbove(watch) ? candle.low <= triggerPrice + margin : candle.high >= triggerPrice - margin
}

/** Limit longs, stop shorts, long stop losses and short take profits execute at or below their trigger. */
function isReachedFromAbove({ trade, orderType }: Watch): boolean {
  if (trade.tradeType === TradeType.LIMIT) return trade.long
  if (trade.tradeType === TradeType.STOP) return !trade.long
  return (orderType === PendingOrderType.TP_CLOSE) !== trade.long
}

function isLosing({ trade, candle }: Watch): boolean {
  if (candle === undefined || trade.openPrice === 0n) return false
  const move = trade.long ? candle.low - trade.openPrice : trade.openPrice - candle.high
  return (move * BigInt(trade.leverage) * 100n) / trade.openPrice / 1000n <= -CLOSE_LOOK_LOSS_PERCENT
}
