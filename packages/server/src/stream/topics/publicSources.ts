import type { Candle, CandleInterval, RecentTrade, ChainSlug } from '@bezel/protocol'
import type { Feed } from '../../market/feed/feed.ts'
import type { PriceBook } from '../../market/feed/priceBook.ts'
import type { MarketReads } from '../../market/marketReads.ts'
import type { ChainMarketsWatch } from '../../market/watchChainMarkets.ts'
import { createPublisher } from '../../ground/publisher.ts'
import type { Changes } from '../../journal/accountLog.ts'
import { listTrades, recentTrade } from '../../market/recentTrades.ts'
import type { Store } from '../../store/sql.ts'

type Trades = readonly { readonly pairIndex: number; readonly trade: RecentTrade }[]

/** The executions of one chain, announced as they are committed. */
export interface TradeTape extends TradeSource {
  /** Announces the executions of a commit. Called after each commit. */
  apply(changes: Pick<Changes, 'fills' | 'cause'>): void
}

/** The candles of all pairs, made from the price feed. */
export interface CandleSource {
  /** Returns at most `count` candles, oldest first, the current one last. */
  recent(pairIndex: number, interval: CandleInterval, count: number): Promise<readonly Candle[]>
  current(pairIndex: number, interval: CandleInterval): Candle | undefined
  /** Calls the listener with the pairs whose current candles changed. Returns a function that ends the subscription. */
  onChange(listener: (pairIndexes: Iterable<number>) => void): () => void
  /**
   * Calls the listener with a series whose ended candles, or the current one, may have been corrected. Returns a
   * function that ends the subscription.
   */
  onRepaired(listener: (series: { readonly pairIndex: number; readonly interval: CandleInterval }) => void): () => void
}

/** Executions on one chain. */
export interface TradeSource {
  /** Returns the last executions of a pair, newest first. */
  list(pairIndex: number, limit: number): Promise<readonly RecentTrade[]>
  /**
   * Calls the listener after each commit with its executions, oldest first; `list` then returns them too. Returns a
   * function that ends the subscription.
   */
  onTrades(
    listener: (trades: readonly { readonly pairIndex: number; readonly trade: RecentTrade }[]) => void,
  ): () => void
  /**
   * Calls the listener after each commit that undid a block: `list` may return fewer now. Returns a function that ends
   * the subscription.
   */
  onTakenBack(listener: () => void): () => void
}

/** The sources of one chain's public channels. */
export interface PublicSources {
  readonly markets: Pick<MarketReads, 'prices' | 'book' | 'listed'> & {
    readonly watch: Pick<ChainMarketsWatch, 'current' | 'version'>
  }
  readonly feed: Pick<Feed, 'onTick'> & { readonly book: Pick<PriceBook, 'get' | 'version'> }
  readonly candles: CandleSource
  readonly trades: TradeSource
}

export function createTradeTape({ chain, store }: { chain: ChainSlug; store: Pick<Store, 'read'> }): TradeTape {
  const published = createPublisher<Trades>()
  const takenBack = createPublisher()
  return {
    list: (pairIndex, limit) => listTrades(store.read, { chain, pairIndex, limit }),
    onTrades: published.subscribe,
    onTakenBack: takenBack.subscribe,
    apply({ fills, cause }) {
      if (cause.isReorg) takenBack.publish()
      if (fills.length === 0 || !published.hasSubscribers()) return
      const trades = fills.flatMap(({ pairIndex, fill }) => {
        const trade = recentTrade(fill)
        return trade === undefined ? [] : [{ pairIndex, trade }]
      })
      if (trades.length > 0) published.publish(trades)
    },
  }
}
