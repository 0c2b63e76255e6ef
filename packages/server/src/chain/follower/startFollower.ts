import type { FastifyBaseLogger } from 'fastify'
import type { ChainMarkets } from '../../market/chainMarkets.ts'
import { reconnectDelayMs } from '../../market/feed/reconnectDelay.ts'
import type { FollowedBlock } from '../../store/blockStore.ts'
import type { FoldClock } from '../../trading/orders/orderModel.ts'
import { NodeUnavailableError } from '../rpcOutcome.ts'
import { createFollowing, ReorgTooDeepError, type FollowerStats, type FollowingOptions } from './createFollowing.ts'
import { openHeadsSocket } from './headsSocket.ts'
import { createWaker } from './waker.ts'

export type { BlockChanges } from './applyBlock.ts'
export type { FollowerStats } from './createFollowing.ts'

/** Why what is known of the chain can't be relied on. */
export type FollowerReason = 'starting' | 'chain_lagging' | 'reorg_too_deep'

/** Keeps orders, positions and fills in step with a chain. */
export interface Follower {
  /** The last block that was applied. */
  head(): FollowedBlock | undefined
  reason(): FollowerReason | undefined
  clock(): FoldClock
  stats(): FollowerStats
  /** Resolves when nothing is under way any more. */
  close(): Promise<void>
}

export interface FollowerOptions extends Omit<FollowingOptions, 'timeoutBlocks'> {
  readonly markets: () => ChainMarkets | undefined
  /** Between two looks at the node while it does not tell of new heads itself. */
  readonly pollMs: number
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
}

/** The socket may be open and its subscription dead, so the node is asked now and then all the same. */
const UP_POLL_MS = 2_000
/** While the markets are not read, which comes within moments. */
const MARKETS_POLL_MS = 50
/** How long the node may not answer. */
const MAX_SILENCE_MS = 10_000
/** How far behind the node's head is too far. */
const MAX_LAG_BLOCKS = 50
/** Between two tries, however long it has failed. */
const MAX_RETRY_MS = 2_000
/** Before the market's timeout is known, nothing times out. */
const NO_TIMEOUT_BLOCKS = Number.MAX_SAFE_INTEGER / 2

/**
 * Follows a chain until it is closed, whatever happens: every failure leaves what is stored as it is and is tried again. A head only wakes it;
 * where to go on is what the store says. Whether the chain stands still or only the node's view of it can't be told from here, so a node
 * that answers with the same head for long is believed.
 */
export function startFollower(options: FollowerOptions): Follower {
  const { chain, now, log } = options
  const waker = createWaker()
  let timeoutBlocks = NO_TIMEOUT_BLOCKS
  const following = createFollowing({ ...options, timeoutBlocks: () => timeoutBlocks })
  const heads =
    chain.wsUrl === undefined
      ? undefined
      : openHeadsSocket({ url: chain.wsUrl, random: Math.random, onHead: () => waker.wake() })
  let isClosed = false
  let isCaughtUp = false
  let isTooDeep = false
  let failures = 0
  let goodAtMs = now()
  const done = run()

  async function run(): Promise<void> {
    let isOpen = false
    while (!isClosed) {
      try {
        if (!isOpen) await following.open()
        isOpen = true
        const markets = options.markets()
        if (markets === undefined) {
          await waker.sleep(MARKETS_POLL_MS)
          continue
        }
        timeoutBlocks = markets.marketOrdersTimeoutBlocks
        const isMore = await following.step(markets)
        succeeded(isMore)
        if (!isMore) await waker.sleep(heads?.isUp() === true ? Math.max(UP_POLL_MS, options.pollMs) : options.pollMs)
      } catch (error) {
        failed(error)
        await waker.pause(Math.min(reconnectDelayMs(failures - 1, Math.random()), MAX_RETRY_MS))
      }
    }
  }

  function succeeded(isMore: boolean): void {
    if (failures > 0) log.info({ chain: chain.slug, failures }, 'the chain is followed again')
    failures = 0
    isTooDeep = false
    goodAtMs = now()
    if (isMore || isCaughtUp) return
    isCaughtUp = true
    log.info({ chain: chain.slug, block: following.head()?.number }, 'the chain is followed')
  }

  /** Told once, until it works again, or when it is something else. */
  function failed(error: unknown): void {
    const isNews = failures === 0 || (error instanceof ReorgTooDeepError && !isTooDeep)
    isTooDeep = error instanceof ReorgTooDeepError
    failures += 1
    if (isClosed || !isNews) return
    const at = { chain: chain.slug, block: following.head()?.number, err: error }
    if (error instanceof NodeUnavailableError) log.warn(at, 'the chain could not be followed')
    else log.error(at, 'the chain could not be followed')
  }

  return {
    head: () => following.head(),
    reason() {
      if (isTooDeep) return 'reorg_too_deep'
      if (!isCaughtUp) return 'starting'
      const isSilent = now() - goodAtMs > MAX_SILENCE_MS
      return isSilent || following.stats().lagBlocks > MAX_LAG_BLOCKS ? 'chain_lagging' : undefined
    },
    clock: () => ({ nowMs: now(), headBlock: following.head()?.number ?? 0, timeoutBlocks }),
    stats: () => following.stats(),
    async close() {
      isClosed = true
      heads?.close()
      waker.close()
      await done
    },
  }
}
