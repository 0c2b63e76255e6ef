import { StartupError, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { verifyChain } from '../chain/verifyChain.ts'
import type { Store } from '../store/sql.ts'
import { startCandles, type Candles } from './candles/startCandles.ts'
import { openFeed, type Feed } from './feed.ts'
import { createFeedPages } from './feed/pages.ts'
import { watchMarketHours, type MarketHours } from './hours.ts'
import { createMarketReads, type MarketReads } from './marketReads.ts'
import { createReferencePrices } from './referencePrices.ts'
import { watchChainMarkets, type ChainMarketsWatch, type RefreshOutcome } from './watchChainMarkets.ts'

/** A chain's markets: what is known, and what to answer with. */
export interface ChainMarketData extends MarketReads {
  readonly watch: ChainMarketsWatch
}

/** Prices, hours and the markets of every chain, kept fresh in the background. */
export interface Markets {
  readonly feed: Feed
  readonly hours: MarketHours
  readonly candles: Candles
  readonly byChain: ReadonlyMap<ChainSlug, ChainMarketData>
  close(): Promise<void>
}

export interface MarketsOptions {
  readonly chains: readonly ServedChain[]
  readonly clientOf: (slug: ChainSlug) => RpcClient
  readonly store: Store
  readonly feedUrl: string
  /** Between two readings of a chain's markets. */
  readonly refreshMs: number
  /** Between two looks at which markets are open. */
  readonly statusMs: number
  readonly now: () => number
  readonly random: () => number
  readonly log: FastifyBaseLogger
}

/** Starts everything and returns at once: what is not read yet answers `NOT_READY`. */
export function startMarkets(options: MarketsOptions): Markets {
  const { feedUrl, store, now, log } = options
  const pages = createFeedPages(feedUrl)
  const feed = openFeed({ ...options, pages, onConnectionChange: (state) => log.info({ state }, 'price feed') })
  const candles = startCandles({ ...options, feed, pages })
  const hours = watchMarketHours({ pages, now, pollMs: options.statusMs })
  const referencePricesOf = createReferencePrices({ store, pages, book: feed.book, now })

  function watch(chain: ServedChain): ChainMarketData {
    const client = options.clientOf(chain.slug)
    const watched = watchChainMarkets({
      client,
      diamond: chain.diamond,
      referencePrices: referencePricesOf(chain.slug),
      verifyChain: () => verifyChain(store, chain, client),
      now,
      refreshMs: options.refreshMs,
      onRefresh: (outcome) => logRefresh(log, chain.slug, outcome),
    })
    return { watch: watched, ...createMarketReads({ watch: watched, book: feed.book, hours, now }) }
  }

  const byChain = new Map(options.chains.map((chain) => [chain.slug, watch(chain)]))
  return {
    feed,
    hours,
    candles,
    byChain,
    async close() {
      feed.close()
      hours.close()
      for (const chain of byChain.values()) chain.watch.close()
      await candles.close()
    },
  }
}

function logRefresh(log: FastifyBaseLogger, chain: ChainSlug, outcome: RefreshOutcome): void {
  if (outcome.state !== 'failed') return log.info({ chain, ...outcome }, 'markets are read')
  // While nothing was read yet the node or the feed may just not be up; a wrong chain stays wrong.
  const level = outcome.error instanceof StartupError ? 'error' : outcome.isLoaded ? 'warn' : 'info'
  log[level]({ chain, err: outcome.error }, 'markets could not be read')
}
