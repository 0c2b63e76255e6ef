import type { PairQuote, ChainMarkets, ListedPair } from '../trading/market/chainMarkets.ts'
import type { PriceBook } from './feed/priceBook.ts'
import type { MarketHours } from './hours.ts'
import { notReady, type NotReadyReason } from '../ground/unavailable.ts'
import type { ChainMarketsWatch } from './watchChainMarkets.ts'

/** Decides if the data in memory is fresh enough to answer with. */
export interface Freshness {
  /** Returns the reason to refuse a read that needs the prices of all markets; `undefined` when it can be answered. */
  pricesReason(): NotReadyReason | undefined
  /** Returns the reason to refuse a read that needs the chain's state too. */
  marketsReason(): NotReadyReason | undefined
  /** Returns the chain's markets once they are loaded, however old. Throws `NOT_READY`. */
  loaded(): ChainMarkets
  /**
   * Returns the price of one market, also of one closed to new trades. Only the market's own silence counts, not that
   * of others. Throws `NOT_READY` when the price is stale.
   */
  quote(market: ListedPair): PairQuote
}

export interface FreshnessOptions {
  readonly watch: Pick<ChainMarketsWatch, 'current' | 'isLagging'>
  readonly book: Pick<PriceBook, 'get' | 'hasSnapshot'>
  readonly hours: Pick<MarketHours, 'isOpen'>
  readonly now: () => number
}

/** The longest silence of an open market before its price is stale. A closed market keeps its last price. */
export const STALE_AFTER_MS = 10_000

export function createFreshness({ watch, book, hours, now }: FreshnessOptions): Freshness {
  function isStale(market: ListedPair): boolean {
    const tickedAtMs = book.get(market.pairIndex)?.tickedAtMs ?? Number.NEGATIVE_INFINITY
    return now() - tickedAtMs > STALE_AFTER_MS && hours.isOpen(market)
  }

  /** Returns true when no open market ticks. A single silent market concerns that market only. */
  function isFeedStale({ markets }: ChainMarkets): boolean {
    let hasOpen = false
    for (const market of markets.values()) {
      if (!hours.isOpen(market)) continue
      if (!isStale(market)) return false
      hasOpen = true
    }
    return hasOpen
  }

  function pricesReason(): NotReadyReason | undefined {
    const chain = watch.current()
    if (chain === undefined || !book.hasSnapshot()) return 'starting'
    return isFeedStale(chain) ? 'feed_stale' : undefined
  }

  return {
    pricesReason,
    marketsReason: () => pricesReason() ?? (watch.isLagging() ? 'chain_lagging' : undefined),
    loaded() {
      const chain = watch.current()
      if (chain === undefined || !book.hasSnapshot()) throw notReady('starting')
      return chain
    },
    quote(market) {
      const quote = book.get(market.pairIndex)
      if (quote === undefined || isStale(market)) throw notReady('feed_stale')
      if (watch.isLagging()) throw notReady('chain_lagging')
      return quote
    },
  }
}
