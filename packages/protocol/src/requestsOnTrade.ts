import { PendingOrderType } from './enums.ts'

/** Requests that a trader makes about a trade that exists: closes and changes of it. */
export const REQUESTS_ON_TRADE: ReadonlySet<number> = new Set([
  PendingOrderType.MARKET_CLOSE,
  PendingOrderType.UPDATE_LEVERAGE,
  PendingOrderType.MARKET_PARTIAL_OPEN,
  PendingOrderType.MARKET_PARTIAL_CLOSE,
  PendingOrderType.PNL_WITHDRAWAL,
  PendingOrderType.MANUAL_HOLDING_FEES_REALIZATION,
  PendingOrderType.MANUAL_NEGATIVE_PNL_REALIZATION,
])
