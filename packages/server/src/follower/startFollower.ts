import type { FollowerClient } from '../chain/providers/followerClient.ts'
import { ProviderError } from '../chain/providers/refusals.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { backoffMs } from '../ground/backoff.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { type FoldClock, UNKNOWN_TIMEOUT_BLOCKS } from '../trading/orders/orderModel.ts'
import {
  createFollowing,
  type FollowerStats,
  type FollowingOptions,
  PUSHED_LOOK_MS,
  type Following,
} from './createFollowing.ts'
import { ReorgTooDeepError } from './leaveFork.ts'
import { createPushedHeads, type PushedHead, type PushedHeads } from './pushedHeads.ts'
import type { KnownSince, SnapshotProgress } from './chainKnowledge.ts'
import { openHeadsSocket } from './headsSocket.ts'
import { createInterruptibleSleep } from '../ground/interruptibleSleep.ts'
import { LeaseLostError, NodeUnavailableError } from '../ground/unavailable.ts'
import { CHAINS, type Address, type ChainSlug } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'

/** The reason why the stored state of the chain can't be relied on. */
type FollowerReason = 'starting' | 'snapshot' | 'chain_lagging' | 'reorg_too_deep'

/** Keeps orders, positions and fills in step with a chain. */
export interface Follower {
  /** Returns the last applied block. */
  head(): FollowedBlock | undefined
  reason(): FollowerReason | undefined
  /** Returns the block since which the history of the chain is known; `undefined` while nothing is. */
  knownSince(): KnownSince | undefined
  /** Returns true when everything that this trader has on the chain is known, as of the last applied block. */
  isKnown(trader: Address): boolean
  /** Returns the number of traders of whom it is not proven that everything is known. */
  unprovenTraders(): number
  /** Returns how far the snapshot of the chain is, also when it is complete; `undefined` when there is none. */
  snapshotProgress(): SnapshotProgress | undefined
  /** Returns the clock for folding orders. Its `timeoutBlocks` is a placeholder until the markets are read. */
  clock(): FoldClock
  stats(): FollowerStats
  /** Stops following. Resolves when no work is in progress any more. */
  close(): Promise<void>
}

export interface FollowerOptions
  extends
    Omit<FollowingOptions, 'timeoutBlocks' | 'onError' | 'heads' | 'onMissedLogs' | 'onDifferent'>,
    Pick<FollowerHealthOptions, 'log'> {
  /** Returns the markets; `undefined` until they are read. No block is applied before that. */
  readonly markets: () => ChainMarkets | undefined
  /** Interval between two polls of the node while no subscription tells of new heads. */
  readonly pollMs: number
}

/** Poll interval until the markets are read, which takes moments. */
const MARKETS_POLL_MS = 50

/** Maximum delay between two attempts after failures. */
export const FOLLOWER_RETRY_MS = 2_000

/**
 * Follows a chain until it is closed. Every failure leaves the store as it is and is retried. A new head wakes the
 * follower; the store says which block is next.
 */
export function startFollower(options: FollowerOptions): Follower {
  const { chain, now, log, pollMs } = options
  const waker = createInterruptibleSleep()
  const closing = new AbortController()
  let timeoutBlocks = UNKNOWN_TIMEOUT_BLOCKS
  const heads = openHeads(options, waker.wake)
  const told = tellTo(chain.slug, log)
  const following = createFollowing({ ...options, ...told, heads, timeoutBlocks: () => timeoutBlocks })
  const pauseMs = (): number => (heads.isUp() ? Math.max(PUSHED_LOOK_MS, pollMs) : pollMs)
  const health = createFollowerHealth({ ...options, following, pauseMs })
  const done = run()

  async function run(): Promise<void> {
    let isOpen = false
    while (!closing.signal.aborted) {
      try {
        if (!isOpen) await following.open()
        isOpen = true
        await look(options.markets())
      } catch (error) {
        if (closing.signal.aborted) return
        // After any failure, the cursor is loaded from the store again.
        isOpen = false
        health.failed(error)
        await waker.pause(Math.min(backoffMs(health.failures() - 1, Math.random()), FOLLOWER_RETRY_MS))
      }
    }
  }

  /** Runs one step and sleeps when there is nothing more to do. */
  async function look(markets: ChainMarkets | undefined): Promise<void> {
    if (markets === undefined) return waker.sleep(MARKETS_POLL_MS)
    timeoutBlocks = markets.marketOrdersTimeoutBlocks
    const [wasTaking, before] = [following.knowledge.isTakingSnapshot(), following.head()?.hash]
    const isMore = await following.step(markets)
    if (wasTaking) tellSnapshot()
    // The first step after a failure only asks how far the node is, which says nothing about what failed.
    if (wasTaking || !isMore || following.head()?.hash !== before) health.succeeded(isMore)
    if (!isMore) await waker.sleep(pauseMs())
  }

  function tellSnapshot(): void {
    const progress = following.knowledge.snapshotProgress()
    if (progress === undefined) log.warn({ chain: chain.slug }, 'the snapshot begins anew, because its block is gone')
    else log.info({ chain: chain.slug, ...progress }, 'traders are read for the snapshot')
  }

  return {
    head: () => following.head(),
    reason: () => health.reason(),
    knownSince: () => following.knowledge.knownSince(),
    isKnown: (trader) => following.knowledge.isKnown(trader),
    unprovenTraders: () => following.knowledge.unprovenTraders(),
    snapshotProgress: () => following.knowledge.snapshotProgress(),
    clock: () => {
      const { number: headBlock = 0, timestampMs: headMs = 0 } = following.head() ?? {}
      return { nowMs: now(), headBlock, headMs, timeoutBlocks }
    },
    stats: () => following.stats(),
    async close() {
      closing.abort()
      heads.close()
      waker.close()
      await done
    },
  }
}

/** Subscribes to heads where the chain has a WebSocket. `wake` is called with each one. */
function openHeads(
  { chain, log }: Pick<FollowerOptions, 'chain' | 'log'>,
  wake: () => void,
): PushedHeads & { close(): void } {
  /** True once it was told that no heads come, until one does. */
  let isSilent = false
  const heads = createPushedHeads(() => socket?.isUp() === true, onSilent)
  const socket =
    chain.wsUrls.length === 0 ? undefined : openHeadsSocket({ urls: chain.wsUrls, random: Math.random, onHead })

  function onHead(head: PushedHead): void {
    // The answer to a subscription is unreadable too.
    if (head !== 'unreadable') isSilent = false
    heads.push(head)
    wake()
  }

  function onSilent(): void {
    if (!isSilent)
      log.warn({ chain: chain.slug }, 'a WebSocket is open and tells of no new blocks: the next one is tried')
    isSilent = true
    socket?.reconnect()
  }

  return { ...heads, close: () => socket?.close() }
}

/** Returns the functions that log what the follower finds. */
function tellTo(
  chain: ChainSlug,
  log: Pick<FastifyBaseLogger, 'warn' | 'error'>,
): Required<Pick<FollowingOptions, 'onError' | 'onMissedLogs' | 'onDifferent'>> {
  return {
    onError: (err) => log.error({ chain, err }, 'it could not be checked that everything on the chain is known'),
    onMissedLogs: (block) =>
      log.warn({ chain, block }, 'the node gives logs that it had left out: the block is applied again'),
    onDifferent: (trader, difference) =>
      log.warn({ chain, trader, difference }, 'a trader is not known as on the chain, and is read again'),
  }
}

/** Tracks whether following works, and logs changes. */
interface FollowerHealth {
  reason(): FollowerReason | undefined
  /** Called after a step that got on, or had nothing to do; `isMore` is true while the follower has not caught up. */
  succeeded(isMore: boolean): void
  failed(error: unknown): void
  /** Returns the number of failures since the last success. */
  failures(): number
}

interface FollowerHealthOptions {
  readonly chain: { readonly slug: ChainSlug }
  /** Told of a node whose answers arrive and can't be used. */
  readonly client: Partial<Pick<FollowerClient, 'distrust'>>
  readonly following: Pick<Following, 'head' | 'stats' | 'knowledge'>
  readonly markets: () => Pick<ChainMarkets, 'blocksPerHour'> | undefined
  /** Returns the pause between two steps while there is no news. */
  readonly pauseMs: () => number
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
}

/** Time without a successful step, beside the pause before it, after which the chain counts as lagging. */
const MAX_SILENCE_MS = 10_000
/**
 * Number of failures in a row, without one of the connection, after which the node is distrusted: its answers arrive,
 * so that it looks well.
 */
const MAX_UNUSABLE = 3
/** Time behind the node's head above which the chain counts as lagging. */
const MAX_LAG_MS = 15_000

/**
 * Returns the number of blocks behind the node's head up to which a chain does not count as lagging. Blocks come at the
 * chain's nominal pace or, on a local chain, at a quicker one; `blocksPerHour` is the measured one.
 */
export function maxLagBlocks(chain: ChainSlug, blocksPerHour: number | undefined): number {
  const { blockMs } = CHAINS[chain]
  const paceMs = blocksPerHour === undefined ? blockMs : Math.min(blockMs, HOUR_MS / blocksPerHour)
  return Math.floor(MAX_LAG_MS / paceMs)
}

const HOUR_MS = 3_600_000

/**
 * Makes the health tracker. Lag is judged by the node's answers, never by the time of its blocks: a chain that stands
 * still and a node that no longer sees it move look the same, so a node that keeps answering with the same head is
 * believed.
 */
function createFollowerHealth(options: FollowerHealthOptions): FollowerHealth {
  const { following, markets, pauseMs, now, log } = options
  const chain = options.chain.slug
  let isCaughtUp = false
  let isTooDeep = false
  let failures = 0
  let unusable = 0
  let goodAtMs = now()

  /** Has another node followed, where there is one, when what this one answers could not be used some times. */
  function noteUnusable(error: unknown): void {
    if (!(error instanceof NodeUnavailableError)) return
    unusable = error instanceof ProviderError ? 0 : unusable + 1
    if (unusable < MAX_UNUSABLE) return
    unusable = 0
    options.client.distrust?.(error.message)
  }

  return {
    reason() {
      if (isTooDeep) return 'reorg_too_deep'
      if (following.knowledge.isTakingSnapshot()) return 'snapshot'
      if (!isCaughtUp) return 'starting'
      // A step that failed is tried again at once.
      const isSilent = now() - goodAtMs > MAX_SILENCE_MS + (failures === 0 ? pauseMs() : 0)
      const isBehind = following.stats().lagBlocks > maxLagBlocks(chain, markets()?.blocksPerHour)
      return isSilent || isBehind ? 'chain_lagging' : undefined
    },
    succeeded(isMore) {
      if (failures > 0) log.info({ chain, failures }, 'the chain is followed again')
      failures = 0
      unusable = 0
      isTooDeep = false
      goodAtMs = now()
      if (isMore || isCaughtUp) return
      isCaughtUp = true
      log.info({ chain, block: following.head()?.number }, 'the chain is followed')
    },
    failed(error) {
      // Logged once until it works again, except that a reorganisation too deep to undo, which needs an operator, is
      // logged at once.
      const isNews = failures === 0 || (error instanceof ReorgTooDeepError && !isTooDeep)
      isTooDeep = error instanceof ReorgTooDeepError
      failures += 1
      noteUnusable(error)
      if (!isNews) return
      const level = error instanceof NodeUnavailableError || error instanceof LeaseLostError ? 'warn' : 'error'
      log[level]({ chain, block: following.head()?.number, err: error }, 'the chain could not be followed')
    },
    failures: () => failures,
  }
}
