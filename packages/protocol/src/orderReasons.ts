import type { OrderReason } from './schemas/order.ts'

/** An order reason, explained to the person whose order was refused. */
export interface OrderReasonText {
  /** Half a sentence, to follow "it was refused, because": the state that led to it. */
  readonly cause: string
  /** Half a sentence in the imperative: the change after which the order can pass. */
  readonly remedy: string
}

const row = (cause: string, remedy: string): OrderReasonText => ({ cause, remedy })

/** Every reason of `order.reason` in words: for the reference and for the errors of the SDK. */
export const ORDER_REASON_TEXTS: Readonly<Record<OrderReason, OrderReasonText>> = {
  NONE: row('the contracts gave no reason', 'read the order again, and ask the operator if it stays so'),
  PAUSED: row('trading was paused', 'order again when trading is open'),
  MARKET_CLOSED: row('the market was closed', 'order again when the market is open'),
  SLIPPAGE: row(
    'the price moved further than the slippage allows',
    'order again with the current price or more slippage',
  ),
  TP_REACHED: row('the price had reached its take profit already', 'set another take profit, or none'),
  SL_REACHED: row('the price had reached its stop loss already', 'set another stop loss, or none'),
  EXPOSURE_LIMITS: row(
    'it would have exceeded the open interest that the market, its group or the collateral allows',
    'order less, later, or the other side',
  ),
  PRICE_IMPACT: row(
    'spread and price impact would have cost more than 40 % of the collateral',
    'order less, or with less leverage',
  ),
  MAX_LEVERAGE: row('the leverage was above the maximum of the market', 'order with less leverage'),
  NO_TRADE: row('the position or order was gone', 'read the account again and act on what is there now'),
  WRONG_TRADE: row('it did not fit the position', 'read the position again and ask for what fits it'),
  NOT_HIT: row('the price did not reach the trigger', 'leave the order resting, or change its trigger'),
  LIQ_REACHED: row(
    'the price had reached the liquidation price already',
    'order with less leverage, or wait for another price',
  ),
  OTHER: row(
    'its transaction reverted, or the contracts gave a reason of their own',
    'look at the transaction (`txHash`), preview the order again, and send it anew',
  ),
}
