import type { OrderReason } from '@bezel/protocol'

/** Why an order was refused, as it stands behind "was rejected: ". */
const WORDS: Readonly<Record<OrderReason, (slippage: string) => string>> = {
  NONE: () => 'the contracts gave no reason',
  PAUSED: () => 'trading was paused',
  MARKET_CLOSED: () => 'the market was closed',
  SLIPPAGE: (slippage) => `the price moved by more than the ${slippage} % of slippage it allowed`,
  TP_REACHED: () => 'the price had already reached its take profit',
  SL_REACHED: () => 'the price had already reached its stop loss',
  EXPOSURE_LIMITS: () => 'it would have exceeded the open interest allowed in this market',
  PRICE_IMPACT: () => 'it would have moved the price too far',
  MAX_LEVERAGE: () => 'its leverage is above the maximum of the market',
  NO_TRADE: () => 'the position it was for is no longer open',
  WRONG_TRADE: () => 'it does not fit the position it was for',
  NOT_HIT: () => 'its trigger price was not reached',
  LIQ_REACHED: () => 'the price had already reached its liquidation price',
  OTHER: () => 'its transaction failed, or the contracts refused it for a reason they do not name',
}

/** `slippage` is in percent. */
export function reasonInWords(reason: OrderReason | null, slippage: string): string {
  return WORDS[reason ?? 'NONE'](slippage)
}
