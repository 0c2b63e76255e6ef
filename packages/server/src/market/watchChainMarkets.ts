import { numberToHex } from 'viem'
import type { Address } from '@bezel/protocol'
import { poll } from '../ground/poll.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { createCompareRounds, isOnChain, type MarketsDifference } from './compareRounds.ts'
import {
  createFoldedMarkets,
  type FoldedMarkets,
  type FoldedMarketsOptions,
  type MarketBlock,
} from './foldedMarkets.ts'
import { tradablePairs } from './listing/namedPair.ts'
import { readListing, type ChainListing } from './listing/readListing.ts'
import { momentOf, readNewestBlock, readState } from './listing/readState.ts'
import type { ReferencePrices } from './referencePrices.ts'

/**
 * A chain's markets in memory. They are read once at a block, and after that the events of the followed blocks keep
 * them up to date. What no event tells (the prices of collaterals) is read in rounds, together with the state of a few
 * pairs, which must be what the events told.
 */
export interface ChainMarketsWatch {
  /** Returns the markets as of the last followed block; `undefined` until they are read. */
  current(): ChainMarkets | undefined
  /** Returns true when the node has not answered for so long that the markets in memory may be wrong. */
  isLagging(): boolean
  /** Returns a counter that grows with every change. */
  version(): number
  /**
   * Takes applied blocks into account. The values that trades change are those of the last block at once; when it
   * resolves, so are the settings. Never throws: what could not be read is tried again.
   */
  note(blocks: readonly MarketBlock[]): Promise<void>
  /** Takes back the blocks after `head`, which is now the last followed one, as `note` does. */
  noteUndone(head: FollowedBlock | undefined): Promise<void>
  /** Takes into account that blocks are missing: all markets are read at the next one, or in the next round. */
  noteGap(): void
  stats(): MarketsStats
  /** Returns one sentence for operators about the last difference; `undefined` after a whole turn without one. */
  warning(): string | undefined
  close(): void
}

/** Numbers of a watch since the start. */
export interface MarketsStats {
  /** Times that all of a chain's markets were read. */
  readonly reads: number
  /** Values that were not what the events told. */
  readonly differences: number
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
  /** Pause between two rounds. */
  readonly refreshMs: number
  /** Returns the newest block that is never undone, as seen from a block. */
  readonly lastFinal: (head: number) => number
  readonly followerState: () => FollowerState
  readonly onRefresh: (outcome: RefreshOutcome) => void
  /** Called when the chain has other values than the events told. They are corrected. */
  readonly onDifference: (difference: MarketsDifference) => void
}

/**
 * The state of the chain's follower, as far as markets depend on it. `lost`: the node is on a chain that the follower
 * can't go over to, or its blocks are not told here, so that markets are read in rounds without it.
 */
export type FollowerState = 'following' | 'lagging' | 'lost'

/** The outcome of a refresh, reported when it differs from the one before. */
export type RefreshOutcome =
  | { readonly state: 'loaded' | 'recovered'; readonly markets: number; readonly elapsedMs: number }
  /** Reported once per outage. `isLoaded` is true when markets were read before; they stay in use. */
  | { readonly state: 'failed'; readonly error: unknown; readonly isLoaded: boolean }

/** The longest pause until the first success: after a start, a node and a feed come up within moments. */
const FIRST_RETRY_MS = 500

/** The number of rounds that may fail, besides one slow answer, before the markets count as lagging. */
const MISSED_REFRESHES = 3

const SLOW_ANSWER_MS = 5_000

/** Reads the markets at once, and looks at a part of them every `refreshMs`. */
export function watchChainMarkets(options: ChainMarketsWatchOptions): ChainMarketsWatch {
  const { client, now, refreshMs } = options
  const outcomes = createOutcomes(options)
  let folded: FoldedMarkets | undefined
  const counts = { changes: 0, reads: 0, followed: 0 }
  let isClosed = false
  let reading: Promise<unknown> = Promise.resolve()
  const isCurrent = (known: FoldedMarkets): boolean => !isClosed && folded === known
  const onChange = (): number => (counts.changes += 1)
  const onFailure = (error: unknown): void => (isClosed ? undefined : outcomes.failed(error, folded))
  const rounds = createCompareRounds({ ...options, readReferences: referencesOf(options), isCurrent })
  const polling = poll(tryRefresh)

  /** Lets only one read of all markets run at a time. Throws `NodeUnavailableError`. */
  function readAlone(block: FollowedBlock, isFollowed: boolean): Promise<void> {
    const asked = isFollowed ? ++counts.followed : counts.followed
    const read = reading.then(() => readInto(block, isFollowed, asked))
    reading = read.catch(() => undefined)
    return read
  }

  async function readInto(block: FollowedBlock, isFollowed: boolean, asked: number): Promise<void> {
    const startMs = now()
    const read = await readWhole(options, block)
    // While a slow read went on, blocks may have been followed after another one, or one of them is to be read.
    if (isClosed || (!isFollowed && (folded?.isInStep() === true || asked !== counts.followed))) return
    folded = createFoldedMarkets({ ...read, block, isFollowed, lastFinal: options.lastFinal, onChange, onFailure })
    onChange()
    counts.reads += 1
    outcomes.succeeded(folded, startMs)
  }

  /** Refreshes the markets. Returns the pause until the next refresh in milliseconds. */
  async function tryRefresh(): Promise<number> {
    try {
      await refresh()
    } catch (error) {
      onFailure(error)
    }
    return folded === undefined ? Math.min(FIRST_RETRY_MS, refreshMs) : refreshMs
  }

  async function refresh(): Promise<void> {
    const startMs = now()
    if (folded === undefined) await options.verifyChain()
    if (options.followerState() === 'lost') folded?.giveUp()
    const known = folded?.isInStep() === true ? folded : undefined
    if (known !== undefined) await rounds.run(known)
    // Until the follower has come to the block that was read, its blocks say nothing about what is newer.
    if (known?.isInStep() !== true) return readAlone(await readNewestBlock(client), false)
    if (isCurrent(known)) outcomes.succeeded(known, startMs)
  }

  /** Reads all markets at the last followed block. A failure is tried again with the next block and the next round. */
  const readAgain = (block: FollowedBlock): Promise<void> => readAlone(block, true).catch(onFailure)

  return {
    current: () => folded?.markets(),
    isLagging: () => outcomes.isOld() || (folded?.isInStep() === true && options.followerState() === 'lagging'),
    version: () => counts.changes,
    async note(blocks) {
      const isFolded = blocks.map((block) => folded?.follow(block) ?? true)
      if (isFolded.includes(false)) await readAgain(blocks.at(-1)!.block)
    },
    async noteUndone(head) {
      if (head !== undefined && folded?.undoTo(head) === false) await readAgain(head)
    },
    noteGap: () => folded?.giveUp(),
    stats: () => ({ reads: counts.reads, differences: rounds.differences() }),
    warning: rounds.warning,
    close() {
      isClosed = true
      polling.close()
    },
  }
}

function referencesOf({ referencePrices }: Pick<ChainMarketsWatchOptions, 'referencePrices'>) {
  return ({ pairs }: ChainListing): ReturnType<ReferencePrices['of']> =>
    referencePrices.of(tradablePairs(pairs).map(({ pairIndex }) => pairIndex))
}

/** Reads everything at a block. Throws `NodeUnavailableError`, also when the node has left that block meanwhile. */
async function readWhole(
  options: ChainMarketsWatchOptions,
  block: FollowedBlock,
): Promise<Pick<FoldedMarketsOptions, 'listing' | 'state' | 'references'>> {
  const { client, diamond } = options
  const at = { client, diamond, block: numberToHex(block.number) }
  const listing = await readListing(at)
  const state = await readState(at, listing, momentOf(block))
  if (!(await isOnChain(client, block))) throw new NodeUnavailableError('the node left the block that was read')
  return { listing, state, references: await referencesOf(options)(listing) }
}

/** Tells how refreshes end, each change once. */
interface Outcomes {
  succeeded(folded: FoldedMarkets, startMs: number): void
  failed(error: unknown, folded: FoldedMarkets | undefined): void
  /** Returns true when the last success is so long ago that the markets may be wrong. */
  isOld(): boolean
}

function createOutcomes({ now, refreshMs, onRefresh }: ChainMarketsWatchOptions): Outcomes {
  let succeededAtMs = now()
  let isFirst = true
  let hasFailed = false
  return {
    succeeded(folded, startMs) {
      succeededAtMs = now()
      const outcome = { markets: folded.markets().markets.size, elapsedMs: succeededAtMs - startMs }
      if (isFirst || hasFailed) onRefresh({ state: isFirst ? 'loaded' : 'recovered', ...outcome })
      isFirst = false
      hasFailed = false
    },
    failed(error, folded) {
      if (!hasFailed) onRefresh({ state: 'failed', error, isLoaded: folded !== undefined })
      hasFailed = true
    },
    isOld: () => now() - succeededAtMs > MISSED_REFRESHES * refreshMs + SLOW_ANSWER_MS,
  }
}
