import { StartupError, type ChainSlug, type MarketGroup } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { createMulticallClient } from '../chain/multicallClient.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { verifyChain } from '../chain/providers/chainIdentity.ts'
import type { Store } from '../store/sql.ts'
import { startCandles, type Candles } from './candles/startCandles.ts'
import { openFeed, type Feed } from './feed/feed.ts'
import { createBackendPages } from './feed/backendPages.ts'
import { createFeedPages } from './feed/pages.ts'
import { createMarketHours, watchOpenFlags, type MarketHours, type OpenFlags } from './hours.ts'
import { createMarketReads, type MarketReads } from './marketReads.ts'
import { createPriceWitness, type PriceWitness } from './priceWitness.ts'
import { createReferencePrices, type ReferencePrices } from './referencePrices.ts'
import {
  watchChainMarkets,
  type ChainMarketsWatch,
  type FollowerState,
  type RefreshOutcome,
} from './watchChainMarkets.ts'

/** Prices, opening flags and candles, which the markets of all chains share. */
export interface MarketSources {
  readonly feed: Feed
  readonly pairFlags: OpenFlags<number>
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
  /** Pause between two requests that repair candles. */
  readonly repairPauseMs: number
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
  const candles = startCandles({ ...options, feed, pages, onStored: feed.book.recall })
  const pairFlags = watchOpenFlags({ read: pages.marketStatus, now, pollMs: options.statusMs })
  return {
    feed,
    pairFlags,
    candles,
    witness: createPriceWitness({ pages, book: feed.book, quietMs: options.quietMs, now }),
    referencePricesOf: createReferencePrices({ store, book: feed.book, isFilled: () => feed.pulse() !== undefined }),
    async close() {
      feed.close()
      pairFlags.close()
      await candles.close()
    },
  }
}

/** The markets of one chain, and the answers made from them. */
export interface ChainMarketData extends MarketReads {
  readonly watch: ChainMarketsWatch
  readonly hours: MarketHours
  close(): void
}

/** Factor by which a chain's backend is polled less often than the feed: it serves all its users, and has a limit. */
const POLLS_SKIPPED_OF_BACKEND = 5

export interface ChainMarketsOptions {
  readonly client: RpcClient
  readonly store: Store
  readonly sources: Pick<MarketSources, 'feed' | 'pairFlags' | 'referencePricesOf'>
  /** Pause between two rounds that read what no event tells of the markets. */
  readonly refreshMs: number
  /** Returns the newest block that is never undone, as seen from a block. */
  readonly lastFinal: (head: number) => number
  readonly followerState: () => FollowerState
  /** Pause between two reads of the markets' opening flags. */
  readonly statusMs: number
  /** Age from which a price needs a second witness before a position is opened at it. */
  readonly quietMs: number
  readonly now: () => number
  readonly log: FastifyBaseLogger
}

/** Keeps the markets of one chain up to date until it is closed, see `ChainMarketsWatch`. */
export function openChainMarkets(chain: ServedChain, options: ChainMarketsOptions): ChainMarketData {
  const { client, store, sources, now } = options
  const watch = watchChainMarkets({
    client: createMulticallClient(client),
    diamond: chain.diamond,
    referencePrices: sources.referencePricesOf(chain.slug),
    verifyChain: () => verifyChain(store, chain, client),
    now,
    refreshMs: options.refreshMs,
    lastFinal: options.lastFinal,
    followerState: options.followerState,
    onRefresh: (outcome) => logRefresh(options.log, chain.slug, outcome),
    onDifference: (difference) =>
      options.log.error(
        { chain: chain.slug, ...difference },
        'the chain has other values of its markets than its events told; they are corrected',
      ),
  })
  const { feed, pairFlags } = sources
  const groupFlags = watchGroupFlags(chain, options)
  const hours = createMarketHours({ pairFlags, groupFlags, now })
  const reads = {
    watch,
    book: feed.book,
    pulse: feed.pulse,
    wasAsked: feed.wasAsked,
    hours,
    quietMs: options.quietMs,
    now,
  }
  return {
    watch,
    hours,
    ...createMarketReads(reads),
    close() {
      watch.close()
      groupFlags?.close()
    },
  }
}

/** Polls the opening flags of the chain's backend; `undefined` where none is configured. */
function watchGroupFlags(
  { backendUrl }: ServedChain,
  { now, statusMs }: ChainMarketsOptions,
): OpenFlags<MarketGroup> | undefined {
  if (backendUrl === undefined) return undefined
  const { openGroups } = createBackendPages(backendUrl)
  return watchOpenFlags({ read: openGroups, now, pollMs: statusMs * POLLS_SKIPPED_OF_BACKEND })
}

function logRefresh(log: FastifyBaseLogger, chain: ChainSlug, outcome: RefreshOutcome): void {
  if (outcome.state !== 'failed') return log.info({ chain, ...outcome }, 'markets are read')
  // Before the first success the node or the feed may just be starting, so that is no warning. A wrong chain stays
  // wrong.
  const level = outcome.error instanceof StartupError ? 'error' : outcome.isLoaded ? 'warn' : 'info'
  log[level]({ chain, err: outcome.error }, 'markets could not be read')
}
