import { numberToHex } from 'viem'
import type { Address, Price } from '@bezel/protocol'
import { poll } from '../ground/poll.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { FeedUnavailableError } from './feed/pages.ts'
import { assembleMarkets } from './listing/assembleMarkets.ts'
import { tradablePairs } from './listing/namedPair.ts'
import { readListing, type ChainListing } from './listing/readListing.ts'
import { readMoment, readState } from './listing/readState.ts'
import type { ReferencePrices } from './referencePrices.ts'

/** A chain's markets in memory, refreshed in the background. */
export interface ChainMarketsWatch {
  /** Returns the markets as last read; `undefined` until the first read. */
  current(): ChainMarkets | undefined
  /** Returns true when the node has not answered for so long that the markets in memory may be wrong. */
  isLagging(): boolean
  /** Returns a counter that grows with every refresh. */
  version(): number
  close(): void
}

export interface ChainMarketsWatchOptions {
  readonly client: RpcClient
  readonly diamond: Address
  readonly referencePrices: ReferencePrices
  /**
   * Checks, before the first read, that the node is on the chain that the stored data belongs to. Throws when it is
   * not.
   */
  readonly verifyChain: () => Promise<void>
  readonly now: () => number
  /** Pause between two refreshes. */
  readonly refreshMs: number
  readonly onRefresh: (outcome: RefreshOutcome) => void
}

/** The outcome of a refresh, reported when it differs from the one before. */
export type RefreshOutcome =
  | { readonly state: 'loaded' | 'recovered'; readonly markets: number; readonly elapsedMs: number }
  /** Reported once per outage. `isLoaded` is true when markets were read before; they stay in use. */
  | { readonly state: 'failed'; readonly error: unknown; readonly isLoaded: boolean }

/** The number of refreshes per read of the listing, which only governance changes. */
const REFRESHES_PER_LISTING = 20

/** The longest pause until the first success: after a start, a node and a feed come up within moments. */
const FIRST_RETRY_MS = 500

/** The number of refreshes that may fail, besides one slow answer, before the state counts as lagging. */
const MISSED_REFRESHES = 3

const SLOW_ANSWER_MS = 5_000

interface Listed {
  readonly listing: ChainListing
  readonly prices: ReadonlyMap<number, Price>
}

/** Reads the markets at once and then every `refreshMs`. A failed refresh keeps the markets that were read before. */
export function watchChainMarkets(options: ChainMarketsWatchOptions): ChainMarketsWatch {
  const { now, refreshMs } = options
  let current: ChainMarkets | undefined
  let listed: Listed | undefined
  let refreshes = 0
  let version = 0
  let readAtMs = now()
  let hasFailed = false
  let isClosed = false
  const polling = poll(tryRefresh)

  /** Refreshes the markets. Returns the pause until the next refresh in milliseconds. */
  async function tryRefresh(): Promise<number> {
    try {
      await refresh()
    } catch (error) {
      if (!hasFailed && !isClosed) options.onRefresh({ state: 'failed', error, isLoaded: current !== undefined })
      hasFailed = true
    }
    return current === undefined ? Math.min(FIRST_RETRY_MS, refreshMs) : refreshMs
  }

  async function refresh(): Promise<void> {
    const startMs = now()
    if (current === undefined) await options.verifyChain()
    const next = await readMarkets(options, listed, refreshes % REFRESHES_PER_LISTING === 0)
    if (isClosed) return
    const isFirst = current === undefined
    ;({ listed, markets: current } = next)
    refreshes += 1
    version += 1
    readAtMs = now()
    if (!isFirst && !hasFailed) return
    hasFailed = false
    const outcome = { markets: current.markets.size, elapsedMs: readAtMs - startMs }
    options.onRefresh({ state: isFirst ? 'loaded' : 'recovered', ...outcome })
  }

  return {
    current: () => current,
    isLagging: () => now() - readAtMs > MISSED_REFRESHES * refreshMs + SLOW_ANSWER_MS,
    version: () => version,
    close() {
      isClosed = true
      polling.close()
    },
  }
}

async function readMarkets(
  options: ChainMarketsWatchOptions,
  before: Listed | undefined,
  isListingDue: boolean,
): Promise<{ readonly listed: Listed; readonly markets: ChainMarkets }> {
  const { client, diamond } = options
  const moment = await readMoment(client)
  const at = { client, diamond, block: numberToHex(moment.blockNumber) }
  const listed = before === undefined || isListingDue ? await readListed(at, options, before) : before
  const traded = await readState(at, listed.listing, moment)
  return { listed, markets: assembleMarkets(listed.listing, traded, listed.prices, moment) }
}

async function readListed(
  at: Parameters<typeof readListing>[0],
  { referencePrices }: ChainMarketsWatchOptions,
  before: Listed | undefined,
): Promise<Listed> {
  const listing = await readListing(at)
  const { prices, isIncomplete } = await referencePrices.of(
    tradablePairs(listing.pairs).map(({ pairIndex }) => pairIndex),
  )
  // Later a new pair may wait for its reference price, but the service does not start with half of its markets.
  if (before === undefined && isIncomplete) throw new FeedUnavailableError('the feed has no history yet')
  return { listing, prices }
}
