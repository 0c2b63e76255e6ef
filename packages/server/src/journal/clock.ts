import type { ChainSlug } from '@bezel/protocol'
import { OFF_CHAIN, type AccountLog } from './accountLog.ts'
import type { CommitTime } from './chainTime.ts'
import { every, type Repetition } from '../ground/every.ts'
import { listDueOrders } from '../store/orderStore.ts'
import type { Store } from '../store/sql.ts'
import { type FoldClock, isTimeoutKnown } from '../trading/orders/orderModel.ts'
import { refoldOrders } from './refold.ts'
import type { FollowedBlock } from '../store/blockStore.ts'

/** The last applied block. Only the follower moves it; valuations and rules read it. */
export interface ChainHead {
  /** Returns the block; `undefined` until the follower has loaded its cursor or applied its first block. */
  current(): FollowedBlock | undefined
  moveTo(block: FollowedBlock | undefined): void
}

export function createChainHead(): ChainHead {
  let head: FollowedBlock | undefined
  return {
    current: () => head,
    moveTo(block) {
      head = block
    },
  }
}

/**
 * Returns the clock of a fold in a transaction: its time and its head are those of the commit, because the own ones may
 * be behind what was committed. Only where no block is stored the own head stands.
 */
export function clockAt(own: FoldClock, { nowMs, head }: CommitTime): FoldClock {
  const { number: headBlock, timestampMs: headMs } = head ?? { number: own.headBlock, timestampMs: own.headMs }
  return { nowMs, headBlock, headMs, timeoutBlocks: own.timeoutBlocks }
}

/**
 * Maximum number of orders due by time, and again of those due by block number, per transaction; the rest follow in the
 * next round.
 */
const MAX_ORDERS_PER_ROUND = 200

/**
 * Interval of the rounds: often enough that nobody waits for an expiry, and cheap, because a round without due orders
 * is one indexed read.
 */
const ROUND_MS = 250

interface ClockRoundsOptions {
  readonly chain: ChainSlug
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  readonly clock: () => FoldClock
  readonly onError: (error: unknown) => void
}

/**
 * Starts the rounds that fold orders which change by time alone, without a block or a request: prepared orders expire,
 * and reported hashes that no node knows are given up.
 */
export function startClockRounds(options: ClockRoundsOptions): Repetition {
  return every(ROUND_MS, () => runRound(options), options)
}

/** Folds the orders that are due now, in one transaction. */
export async function runRound({ chain, store, accountLog, clock }: ClockRoundsOptions): Promise<void> {
  if ((await listDueOrders(store.read, chain, dueAt(clock()))).length === 0) return
  await accountLog.transaction({ chain }, OFF_CHAIN, async (sql, journal, commit) => {
    const at = clockAt(clock(), commit)
    await refoldOrders(sql, await listDueOrders(sql, chain, dueAt(at)), at, journal)
  })
}

/** Returns the bounds of the query for due orders. While the timeout is unknown, no order is due by its block. */
function dueAt(at: FoldClock) {
  return { nowMs: at.nowMs, headBlock: isTimeoutKnown(at) ? at.headBlock : -1, limit: MAX_ORDERS_PER_ROUND }
}
