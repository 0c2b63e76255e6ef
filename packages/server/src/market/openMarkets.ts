import { StartupError, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { verifyChain } from '../chain/chainReadiness.ts'
import type { Store } from '../store/sql.ts'
import { startCandles, type Candles } from './candles/startCandles.ts'
import { openFeed, type Feed } from './feed/feed.ts'
import { createFeedPages } from './feed/pages.ts'
import { watchMarketHours, type MarketHours } from './hours.ts'
import { createMarketReads, type MarketReads } from './marketReads.ts'
import { createPriceWitness, type PriceWitness } from './priceWitness.ts'
import { createReferencePrices, type ReferencePrices } from './referencePrices.ts'
import { watchChainMarkets, type ChainMarketsWatch, type RefreshOutcome } from './watchChainMarkets.ts'

/** Prices, opening hours and candles, which the markets of all chains share. */
export interface MarketSources {
  readonly feed: Feed
  readonly hours: MarketHours
  readonly candles: Candles
  readonly witness: PriceWitness
  readonly referencePricesOf: (slug: ChainSlug) => ReferencePrices
  close(): Promise<void>
}

export interface MarketSourcesOptions {
  readonly store: Store
  readonly feedUrl: string
  /** Pause between two reads of the markets' opening flags. */
  readonly statusMs: number
  /** Age from which a price needs a second witness before a position is opened at it. */
  readonly quietMs: number
  readonly now: () => number
  readonly random: () => number
  readonly log: FastifyBaseLogger
}

/**
 * Opens the price feed and everything that is derived from it. Returns at once: until the feed's first frame, reads
 * answer `NOT_READY`.
 */
export function openMarketSources(options: MarketSourcesOptions): MarketSources {
  const { feedUrl, store, now, log } = options
  const pages = createFeedPages(feedUrl)
  const feed = openFeed({ ...options, pages, onConnectionChange: (state) => log.info({ state }, 'price feed') })
  const candles = startCandles({ ...options, feed, pages })
  const hours = watchMarketHours({ pages, now, pollMs: options.statusMs })
  return {
    feed,
    hours,
    candles,
    witness: createPriceWitness({ pages, book: feed.book, quietMs: options.quietMs, now }),
    referencePricesOf: createReferencePrices({ store, pages, book: feed.book, now }),
    async close() {
      feed.close()
      hours.close()
      await candles.close()
    },
  }
}

/** The markets of one chain: the last read listing, and the answers made from it. */
export interface ChainMarketData extends MarketReads {
  readonly watch: ChainMarketsWatch
}

export interface ChainMarketsOptions {
  readonly client: RpcClient
  readonly store: Store
  readonly sources: Pick<MarketSources, 'feed' | 'hours' | 'referencePricesOf'>
  /** Pause between two reads of the markets. */
  readonly refreshMs: number
  /** Age from which a price needs a second witness before a position is opened at it. */
  readonly quietMs: number
  readonly now: () => number
  readonly log: FastifyBaseLogger
}

/** Reads the markets of one chain repeatedly in the background, until `watch.close()`. */
export function openChainMarkets(chain: ServedChain, options: ChainMarketsOptions): ChainMarketData {
  const { client, store, sources, now } = options
  const watch = watchChainMarkets({
    client,
    diamond: chain.diamond,
    referencePrices: sources.referencePricesOf(chain.slug),
    verifyChain: () => verifyChain(store, chain, client),
    now,
    refreshMs: options.refreshMs,
    onRefresh: (outcome) => logRefresh(options.log, chain.slug, outcome),
  })
  const { feed, hours } = sources
  const reads = { watch, book: feed.book, pulse: feed.pulse, hours, quietMs: options.quietMs, now }
  return { watch, ...createMarketReads(reads) }
}

function logRefresh(log: FastifyBaseLogger, chain: ChainSlug, outcome: RefreshOutcome): void {
  if (outcome.state !== 'failed') return log.info({ chain, ...outcome }, 'markets are read')
  // Before the first success the node or the feed may just be starting, so that is no warning. A wrong chain stays
  // wrong.
  const level = outcome.error instanceof StartupError ? 'error' : outcome.isLoaded ? 'warn' : 'info'
  log[level]({ chain, err: outcome.error }, 'markets could not be read')
}
