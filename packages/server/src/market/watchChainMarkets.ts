import { numberToHex } from 'viem'
import type { Address } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { FeedUnavailableError } from './feed/pages.ts'
import { assembleMarkets } from './listing/assembleMarkets.ts'
import { tradablePairs } from './listing/namedPair.ts'
import { readListing, type ChainListing } from './listing/readListing.ts'
import { readMoment } from './listing/readMoment.ts'
import { readState } from './listing/readState.ts'
import type { ReferencePrices } from './referencePrices.ts'

/** A chain's markets in memory, kept fresh in the background. */
export interface ChainMarketsWatch {
  /** As last read; `undefined` until the first time. */
  current(): ChainMarkets | undefined
  /** Whether the node has not answered for so long that what is there may be wrong. */
  isLagging(): boolean
  /** Grows with every refresh. */
  version(): number
  close(): void
}

export interface ChainMarketsOptions {
  readonly client: RpcClient
  readonly diamond: Address
  readonly referencePrices: ReferencePrices
  /** Makes sure, before anything is read, that the node is on the chain the data is of. Throws while that is not so. */
  readonly verifyChain: () => Promise<void>
  readonly now: () => number
  /** Between two refreshes. */
  readonly refreshMs: number
  readonly onRefresh: (outcome: RefreshOutcome) => void
}

/** How a refresh went, and whether that is news. */
export type RefreshOutcome =
  | { readonly state: 'loaded' | 'recovered'; readonly markets: number; readonly elapsedMs: number }
  /** Told once, until it works again. `isLoaded`: something was read before and stays. */
  | { readonly state: 'failed'; readonly error: unknown; readonly isLoaded: boolean }

/** What governance alone changes is read again in every so manieth refresh. */
const REFRESHES_PER_LISTING = 20
/** Until the first success: at a start, a node and a feed come up within moments. */
const FIRST_RETRY_MS = 500
/** So many refreshes may fail, plus one slow answer, before the state counts as lagging. */
const MISSED_REFRESHES = 3
const SLOW_ANSWER_MS = 5_000

interface Listed {
  readonly listing: ChainListing
  readonly prices: ReadonlyMap<number, bigint>
}

/** Reads at once and then after every `refreshMs`. A failed refresh leaves what was read before. */
export function watchChainMarkets(options: ChainMarketsOptions): ChainMarketsWatch {
  const { now, refreshMs } = options
  let current: ChainMarkets | undefined
  let listed: Listed | undefined
  let refreshes = 0
  let version = 0
  let readAtMs = now()
  let hasFailed = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  void nextRound()

  async function nextRound(): Promise<void> {
    try {
      await refresh()
    } catch (error) {
      if (!hasFailed && !isClosed) options.onRefresh({ state: 'failed', error, isLoaded: current !== undefined })
      hasFailed = true
    }
    if (!isClosed)
      timer = setTimeout(nextRound, current === undefined ? Math.min(FIRST_RETRY_MS, refreshMs) : refreshMs)
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
      clearTimeout(timer)
    },
  }
}

async function readMarkets(
  options: ChainMarketsOptions,
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
  { referencePrices }: ChainMarketsOptions,
  before: Listed | undefined,
): Promise<Listed> {
  const listing = await readListing(at)
  const { prices, isIncomplete } = await referencePrices.of(
    tradablePairs(listing.pairs).map(({ pairIndex }) => pairIndex),
  )
  // Later a new pair may wait for its reference price, but a service does not start with half of its markets.
  if (before === undefined && isIncomplete) throw new FeedUnavailableError('the feed has no history yet')
  return { listing, prices }
}
