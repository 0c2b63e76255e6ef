import type { PairQuote, ChainMarkets, ListedMarket, ListedPair } from '../trading/market/chainMarkets.ts'
import { parsePathSymbol, type Funding, type MarketRecord, type MarketSymbol, type OrderBook } from '@bezel/protocol'
import type { PriceBook } from './feed/priceBook.ts'
import { createFreshness, type Freshness, type FreshnessOptions } from './freshness.ts'
import type { MarketHours } from './hours.ts'
import { marketNotFound } from '../trading/market/marketNotFound.ts'
import { fundingRecord, marketRecord, priceRecord } from '../trading/market/marketRecord.ts'
import { tradablePairs } from './listing/namedPair.ts'
import { notReady, type NotReadyReason } from '../ground/unavailable.ts'
import { orderBook } from './orderBook.ts'
import type { ChainMarketsWatch } from './watchChainMarkets.ts'

/** A chain's markets, answered from memory. The methods throw `NOT_READY` or `MARKET_NOT_FOUND`. */
export interface MarketReads {
  readonly freshness: Freshness
  /** Returns `{"data": Market[]}` as bytes. */
  markets(): Buffer
  /** Returns `{"data": Price[]}` as bytes. */
  prices(): Buffer
  /** Returns one market. `symbol` has the form used in paths, such as `BTC-USD`. */
  market(symbol: string): MarketRecord
  funding(symbol: string): Funding & { readonly market: string }
  /** Returns the order book with at most `levels` levels on each side; none while the market is closed. */
  book(symbol: string, levels: number): OrderBook
  /**
   * Returns the market that the chain lists under a name, also while the feed is silent. For operations that need no
   * price.
   */
  listed(symbol: string): ListedMarket
  /**
   * Returns the symbols of the tradable pairs that are left out of the markets, because the feed has no price of them;
   * none before the markets are loaded.
   */
  leftOut(): readonly MarketSymbol[]
}

export interface MarketReadsOptions extends FreshnessOptions {
  readonly watch: Pick<ChainMarketsWatch, 'current' | 'isLagging' | 'version'>
  readonly book: Pick<PriceBook, 'get' | 'last' | 'version'>
  readonly hours: Pick<MarketHours, 'isOpen' | 'version'>
}

/** The longest time that an answer is reused. Markets open and close by the clock, which changes no version counter. */
const MAX_CACHE_MS = 1_000

export function createMarketReads(options: MarketReadsOptions): MarketReads {
  const { watch, book, hours, now } = options
  const freshness = createFreshness(options)
  const versions = (): string =>
    `${watch.version()} ${book.version()} ${hours.version()} ${Math.floor(now() / MAX_CACHE_MS)}`

  /** Renders the markets that have a price. A pair that the feed does not know can't be traded. */
  function quoted<Item>(chain: ChainMarkets, toItem: (market: ListedMarket, quote: PairQuote) => Item): Buffer {
    const data: Item[] = []
    for (const market of chain.markets.values()) {
      const quote = book.get(market.pairIndex)
      if (quote !== undefined) data.push(toItem(market, quote))
    }
    return Buffer.from(JSON.stringify({ data }))
  }

  const marketsBytes = remember(versions, (chain: ChainMarkets) =>
    quoted(chain, (market, { mark }) => marketRecord(chain, market, mark, hours.isOpen(market))),
  )
  const pricesBytes = remember(versions, (chain: ChainMarkets) => quoted(chain, priceRecord))

  return {
    freshness,
    markets() {
      refuseFor(freshness.marketsReason())
      return marketsBytes(freshness.loaded())
    },
    prices() {
      refuseFor(freshness.pricesReason())
      return pricesBytes(freshness.loaded())
    },
    market(symbol) {
      const chain = freshness.loaded()
      const market = findMarket(chain, symbol)
      return marketRecord(chain, market, freshness.quote(market).mark, hours.isOpen(market))
    },
    funding(symbol) {
      const chain = freshness.loaded()
      const market = findMarket(chain, symbol)
      const { mark } = freshness.quote(market)
      return { ...fundingRecord(chain, market.pairIndex, mark), market: market.symbol }
    },
    book(symbol, levels) {
      const chain = freshness.loaded()
      const market = findMarket(chain, symbol)
      return orderBook(chain, market, freshness.quote(market), hours.isOpen(market) ? levels : 0)
    },
    listed(symbol) {
      const chain = watch.current()
      if (chain === undefined) throw notReady('starting')
      return findMarket(chain, symbol)
    },
    leftOut() {
      const chain = watch.current()
      if (chain === undefined || options.pulse() === undefined) return []
      const tradable = tradablePairs([...chain.pairs.values()])
      const isShown = ({ symbol, pairIndex }: ListedPair): boolean =>
        chain.markets.get(symbol)?.pairIndex === pairIndex && book.get(pairIndex) !== undefined
      return tradable.filter((pair) => !isShown(pair)).map(({ symbol }) => symbol)
    },
  }
}

/** Finds a market by `BTC-USD` or `BTC/USD`. */
function findMarket({ markets }: ChainMarkets, symbol: string): ListedMarket {
  const name = parsePathSymbol(symbol)
  const market = name === undefined ? undefined : markets.get(name)
  if (market === undefined) throw marketNotFound(markets, symbol)
  return market
}

function refuseFor(reason: NotReadyReason | undefined): void {
  if (reason !== undefined) throw notReady(reason)
}

/** Caches bytes until one of the versions changes: many readers share one rendering for each tick. */
function remember<Source>(versions: () => string, make: (source: Source) => Buffer): (source: Source) => Buffer {
  let madeFrom: string | undefined
  let made: Buffer | undefined
  return (source) => {
    const current = versions()
    if (made === undefined || current !== madeFrom) {
      made = make(source)
      madeFrom = current
    }
    return made
  }
}
