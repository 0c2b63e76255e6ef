import type { ListedPair } from '../trading/market/chainMarkets.ts'
import { ONE_E3 } from '../trading/valuation/scales.ts'

/** Of a market in which the trader never chose one. */
const DEFAULT_LEVERAGE = 10

/** The leverage of the next order of a trader who never chose one: a whole number that the market takes. */
export function defaultLeverage(market: Pick<ListedPair, 'minLeverage' | 'maxLeverage'>): number {
  const least = Number((market.minLeverage + ONE_E3 - 1n) / ONE_E3)
  const most = Number(market.maxLeverage / ONE_E3)
  return Math.max(1, Math.min(Math.max(DEFAULT_LEVERAGE, least), most))
}
