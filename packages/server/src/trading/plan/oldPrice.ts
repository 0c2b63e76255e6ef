import { Price, type Warning } from '@bezel/protocol'
import type { ListedMarket } from '../market/chainMarkets.ts'
import type { TradingContext } from './plan.ts'

/** The age from which on a price is called old. The busiest pair of a live feed is silent for 8 seconds at times. */
export const OLD_PRICE_MS = 10_000

/** Returns a warning when the last mark of a market, with which a close or a stop goes on, is old. */
export function oldPriceWarnings(market: ListedMarket, { lastMarkOf }: TradingContext): readonly Warning[] {
  const { price, ageMs } = lastMarkOf(market)
  if (ageMs <= OLD_PRICE_MS) return []
  const value = Price.format(price)
  const age = `${Math.floor(ageMs / 1_000)} s old`
  const message = `The last price of ${market.symbol}, ${value}, is ${age}: the oracle may execute at another one.`
  return [{ code: 'price_old', value, message }]
}
