import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { reconnectDelayMs } from '../ground/reconnectDelay.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { FoldClock } from '../trading/orders/orderModel.ts'
import { UNKNOWN_TIMEOUT_BLOCKS } from '../trading/orders/unknownTimeout.ts'
import { createFollowing, type FollowerStats, type FollowingOptions } from './createFollowing.ts'
import { createFollowerHealth, type FollowerHealthOptions, type FollowerReason } from './followerHealth.ts'
import { openHeadsSocket } from './headsSocket.ts'
import { createWaker } from '../ground/waker.ts'

export type { FollowerStats } from './createFollowing.ts'
export type { FollowerReason } from './followerHealth.ts'

/** Keeps orders, positions and fills in step with a chain. */
export interface Follower {
  /** The last block that was applied. */
  head(): FollowedBlock | undefined
  reason(): FollowerReason | undefined
  /** Its `timeoutBlocks` is not known before the markets are. */
  clock(): FoldClock
  stats(): FollowerStats
  /** Resolves when nothing is under way any more. */
  close(): Promise<void>
}

export interface FollowerOptions extends Omit<FollowingOptions, 'timeoutBlocks'>, Pick<FollowerHealthOptions, 'log'> {
  /** `undefined` until they are read; no block is applied before. */
  readonly markets: () => ChainMarkets | undefined
  /** Between two looks at the node while it does not tell of new heads itself. */
  readonly pollMs: number
}

/** The socket may be open and its subscription dead, so the node is asked now and then all the same. */
const UP_POLL_MS = 2_000
/** While the markets are not read, which comes within moments. */
const MARKETS_POLL_MS = 50
/** Between two tries, however long it has failed. */
const MAX_RETRY_MS = 2_000

/**
 * Follows a chain until it is closed, whatever happens: every failure leaves what is stored as it is and is tried again. A head only wakes it;
 * where to go on is what the store says.
 */
export function startFollower(options: FollowerOptions): Follower {
  const { chain, now, log, pollMs } = options
  const waker = createWaker()
  const closing = new AbortController()
  let timeoutBlocks = UNKNOWN_TIMEOUT_BLOCKS
  const following = createFollowing({ ...options, timeoutBlocks: () => timeoutBlocks })
  const health = createFollowerHealth({ chain: chain.slug, following, now, log })
  const heads =
    chain.wsUrl === undefined
      ? undefined
      : openHeadsSocket({ url: chain.wsUrl, random: Math.random, onHead: () => waker.wake() })
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
        // Whatever failed, where to go on is what the store says.
        isOpen = false
        health.failed(error)
        await waker.pause(Math.min(reconnectDelayMs(health.failures() - 1, Math.random()), MAX_RETRY_MS))
      }
    }
  }

  /** One step, and the sleep after it. */
  async function look(markets: ChainMarkets | undefined): Promise<void> {
    if (markets === undefined) return waker.sleep(MARKETS_POLL_MS)
    timeoutBlocks = markets.marketOrdersTimeoutBlocks
    const isMore = await following.step(markets)
    health.succeeded(isMore)
    if (!isMore) await waker.sleep(heads?.isUp() === true ? Math.max(UP_POLL_MS, pollMs) : pollMs)
  }

  return {
    head: () => following.head(),
    reason: () => health.reason(),
    clock: () => ({ nowMs: now(), headBlock: following.head()?.number ?? 0, timeoutBlocks }),
    stats: () => following.stats(),
    async close() {
      closing.abort()
      heads?.close()
      waker.close()
      await done
    },
  }
}
