import { numberToHex } from 'viem'
import type { Address } from '@bezel/protocol'
import { poll } from '../ground/poll.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
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

/** Reads the markets at once and then every `refreshMs`. A failed refresh keeps the markets that were read before. */
export function watchChainMarkets(options: ChainMarketsWatchOptions): ChainMarketsWatch {
  const { now, refreshMs } = options
  let current: ChainMarkets | undefined
  let listing: ChainListing | undefined
  /** The number of refreshes with this listing. */
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
    const moment = await readMoment(options.client)
    const at = { client: options.client, diamond: options.diamond, block: numberToHex(moment.blockNumber) }
    if (listing === undefined || refreshes >= REFRESHES_PER_LISTING) {
      listing = await readListing(at)
      refreshes = 0
    }
    const pairIndices = tradablePairs(listing.pairs).map(({ pairIndex }) => pairIndex)
    const prices = await options.referencePrices.of(pairIndices)
    const next = assembleMarkets(listing, await readState(at, listing, moment), prices, moment)
    if (isClosed) return
    const isFirst = current === undefined
    current = next
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
