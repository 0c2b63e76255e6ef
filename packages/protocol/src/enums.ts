// The enums of the Diamond, uint8 on chain.

export const TradeType = { TRADE: 0, LIMIT: 1, STOP: 2 } as const
export type TradeType = (typeof TradeType)[keyof typeof TradeType]

/**
 * Types of pending orders. Bots trigger 2 to 6; every other type waits for one oracle answer and can be reclaimed after
 * the timeout.
 */
export const PendingOrderType = {
  MARKET_OPEN: 0,
  MARKET_CLOSE: 1,
  LIMIT_OPEN: 2,
  STOP_OPEN: 3,
  TP_CLOSE: 4,
  SL_CLOSE: 5,
  LIQ_CLOSE: 6,
  UPDATE_LEVERAGE: 7,
  MARKET_PARTIAL_OPEN: 8,
  MARKET_PARTIAL_CLOSE: 9,
  /** Deprecated on chain. */
  PARAM_UPDATE: 10,
  PNL_WITHDRAWAL: 11,
  MANUAL_HOLDING_FEES_REALIZATION: 12,
  MANUAL_NEGATIVE_PNL_REALIZATION: 13,
} as const
export type PendingOrderType = (typeof PendingOrderType)[keyof typeof PendingOrderType]

export const CancelReason = {
  NONE: 0,
  /** Deprecated on chain: a paused Diamond reverts instead. */
  PAUSED: 1,
  /** Deprecated on chain: oracles don't answer while a market is closed, so the request times out. */
  MARKET_CLOSED: 2,
  SLIPPAGE: 3,
  TP_REACHED: 4,
  SL_REACHED: 5,
  EXPOSURE_LIMITS: 6,
  PRICE_IMPACT: 7,
  MAX_LEVERAGE: 8,
  NO_TRADE: 9,
  WRONG_TRADE: 10,
  NOT_HIT: 11,
  LIQ_REACHED: 12,
  COUNTER_TRADE_CANCELED: 13,
} as const
export type CancelReason = (typeof CancelReason)[keyof typeof CancelReason]

export const TradingActivated = { ACTIVATED: 0, CLOSE_ONLY: 1, PAUSED: 2 } as const
export type TradingActivated = (typeof TradingActivated)[keyof typeof TradingActivated]

export const CounterType = { TRADE: 0, PENDING_ORDER: 1 } as const
export type CounterType = (typeof CounterType)[keyof typeof CounterType]

export const ContractsVersion = { BEFORE_V9_2: 0, V9_2: 1, V10: 2 } as const
export type ContractsVersion = (typeof ContractsVersion)[keyof typeof ContractsVersion]
