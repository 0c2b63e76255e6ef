import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { findBlock, type FollowedBlock } from '../store/blockStore.ts'
import { hasUnreportedAttempt } from '../store/attemptStore.ts'
import { emptyBlock } from './assembleBlock.ts'
import { createChainKnowledge, type ChainKnowledge } from './chainKnowledge.ts'
import { createCourse, type CourseOptions } from './course.ts'
import type { CursorCounts } from './cursor.ts'
import { createLooks, type Wanted } from './looks.ts'
import { NO_HEADS, type PushedHeads } from './pushedHeads.ts'
import { readPushedBlock } from './readNews.ts'
import { createAwaitedHashes, NOTHING_REPORTED } from './readReported.ts'

/** Counters of the follower since the start. */
export interface FollowerStats extends CursorCounts {
  /** Number of blocks between the cursor and the node's head, as of the last read. */
  readonly lagBlocks: number
}

export interface FollowingOptions extends CourseOptions {
  /** The heads that the node pushes. Default none: every step asks the node. */
  readonly heads?: PushedHeads
}

/**
 * Follows a chain step by step. A pushed head without logs of the Diamond needs no read, one with logs a single one. A
 * step that asks for news reads once, and once more for the blocks that have logs. Every step can be repeated after any
 * failure.
 */
export interface Following {
  head(): FollowedBlock | undefined
  stats(): FollowerStats
  readonly knowledge: Pick<
    ChainKnowledge,
    'isTakingSnapshot' | 'isKnown' | 'unprovenTraders' | 'knownSince' | 'snapshotProgress'
  >
  /** Loads the stored cursor. Called before the first step. */
  open(): Promise<void>
  /**
   * Reads and applies the next blocks. Returns true when more can be done at once. Throws `NodeUnavailableError`,
   * `ReorgTooDeepError` and the errors of the store.
   */
  step(markets: ChainMarkets): Promise<boolean>
}

/** Interval between two looks at the node while it pushes heads: its socket may be open and the subscription dead. */
export const PUSHED_LOOK_MS = 10_000

/** Time after the end of an attempt during which its transaction may be found in a block that is read late. */
const LATE_MS = 60_000

export function createFollowing(options: FollowingOptions): Following {
  const { chain, client, store, finality, now, heads = NO_HEADS } = options
  const knowledge = createChainKnowledge(options)
  const course = createCourse(options, knowledge)
  const looks = createLooks(course, options)
  const listAwaited = createAwaitedHashes(options)

  const isQuiet = (): boolean => looks.lagBlocks() === 0 && now() - looks.lookedAtMs() >= PUSHED_LOOK_MS
  const isLookDue = (): boolean => !heads.isUp() || looks.lagBlocks() > 0 || isQuiet()

  async function step(markets: ChainMarkets): Promise<boolean> {
    await client.choose?.()
    if (knowledge.isTakingSnapshot()) {
      await knowledge.takeSnapshot(markets)
      return true
    }
    const isMore = await follow(markets)
    if (!isMore) await knowledge.look(markets)
    return isMore
  }

  async function follow(markets: ChainMarkets): Promise<boolean> {
    const awaited = await listAwaited()
    // The first blocks of all are stored one by one, so that there is something to undo down to.
    const isWhole =
      course.last() === undefined ||
      awaited.length > 0 ||
      (await hasUnreportedAttempt(store.read, chain.slug, now() - LATE_MS))
    const wanted = { awaited, isWhole }
    const outcome = isLookDue() ? 'look' : await followPushed(wanted, markets)
    if (outcome !== 'look') return outcome === 'followed'
    const [lastNumber, mayMiss] = [course.last()?.number, heads.isUp() && isQuiet()]
    heads.clear()
    const isMore = await looks.look(wanted, markets)
    if (mayMiss && course.last()?.number !== lastNumber) heads.missed()
    return isMore
  }

  /** Follows the next pushed head. Returns `look` when it does not follow on the last block, or can't be read. */
  async function followPushed(wanted: Wanted, markets: ChainMarkets): Promise<'followed' | 'nothing' | 'look'> {
    const [pushed, last] = [heads.take(), course.last()]
    if (pushed === undefined) return 'nothing'
    if (pushed === 'unreadable' || last === undefined) return 'look'
    const { number, hash, parentHash } = pushed.block
    if (number <= last.number) {
      const kept = number === last.number ? last : await findBlock(store.read, chain.slug, number)
      return kept === undefined || kept.hash === hash ? 'followed' : 'look'
    }
    if (number !== last.number + 1 || parentHash !== last.hash) return 'look'
    // A socket is believed until the next look. What it pushes must not bury blocks that nobody has looked at.
    if (finality.lastFinal(number) > looks.seenHead()) return 'look'
    const isEmpty = !wanted.isWhole && !course.node.mayHaveLogs(pushed.logsBloom)
    const read = isEmpty
      ? { block: emptyBlock(pushed), reported: NOTHING_REPORTED }
      : await readPushedBlock(course.node, pushed, wanted.awaited)
    if (read === undefined) return 'look'
    looks.sawHead(number)
    await course.apply([read.block], read.reported, markets)
    return 'followed'
  }

  return {
    head: course.last,
    stats: () => ({ ...course.counts(), lagBlocks: looks.lagBlocks() }),
    knowledge,
    async open() {
      await course.open()
      await knowledge.open()
      looks.forget()
    },
    step,
  }
}
