import type { Freshness } from '../market/freshness.ts'
import type { MarketHours } from '../market/hours.ts'
import type { TradingContext } from '../trading/plan/plan.ts'

/** What the rules of trading look at, as it is when they are asked. Throws `NOT_READY` while the chain's markets are not known. */
export function createTradingContext(of: {
  readonly freshness: Pick<Freshness, 'loaded' | 'quote'>
  readonly hours: Pick<MarketHours, 'isOpen'>
}): () => TradingContext {
  return () => ({
    chain: of.freshness.loaded(),
    markOf: (market) => of.freshness.quote(market).mark,
    isOpen: (market) => of.hours.isOpen(market),
  })
}
