import type { Candle, CandleInterval, RecentTrade } from '@bezel/protocol'
import type { Feed } from '../../market/feed.ts'
import type { PriceBook } from '../../market/feed/priceBook.ts'
import type { MarketReads } from '../../market/marketReads.ts'
import type { ChainMarketsWatch } from '../../market/watchChainMarkets.ts'

/** Candles of all pairs, of the feed. */
export interface CandleSource {
  /** Oldest first, at most so many, the current one last. */
  recent(pairIndex: number, interval: CandleInterval, count: number): Promise<readonly Candle[]>
  current(pairIndex: number, interval: CandleInterval): Candle | undefined
  /** Told the pairs whose current candles changed. Returns what ends it. */
  onChange(listener: (pairIndexes: Iterable<number>) => void): () => void
  /** Told whose ended candles may be others than before, and the current one. Returns what ends it. */
  onRepaired(listener: (series: { readonly pairIndex: number; readonly interval: CandleInterval }) => void): () => void
}

/** Executions on one chain. */
export interface TradeSource {
  /** Newest first. */
  list(pairIndex: number, limit: number): Promise<readonly RecentTrade[]>
  /** Called after each commit that brought some, which `list` then has too; oldest first. Returns what ends it. */
  onTrades(
    listener: (trades: readonly { readonly pairIndex: number; readonly trade: RecentTrade }[]) => void,
  ): () => void
  /** Called after each commit that took a block back: `list` may have fewer now. Returns what ends it. */
  onTakenBack(listener: () => void): () => void
}

/** What the public channels of one chain are made from. */
export interface PublicSources {
  readonly markets: Pick<MarketReads, 'prices' | 'book' | 'listed'> & {
    readonly watch: Pick<ChainMarketsWatch, 'current' | 'version'>
  }
  readonly feed: Pick<Feed, 'onTick'> & { readonly book: Pick<PriceBook, 'get' | 'version'> }
  readonly candles: CandleSource
  readonly trades: TradeSource
}
