import type { RpcLog } from '../chain/blocks.ts'
import type { Finality } from '../chain/finality.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { emptyBlock } from './assembleBlock.ts'
import type { Course, CourseOptions } from './course.ts'
import { replacedOf } from './leaveFork.ts'
import { createRangeReader } from './readBlocks.ts'
import { readNews, readWholeBlocks, type News } from './readNews.ts'
import { NOTHING_REPORTED, type AwaitedHash } from './readReported.ts'

/** The things that a step reads besides blocks with logs. */
export interface Wanted {
  readonly awaited: readonly AwaitedHash[]
  /** True when a transaction without a log may matter, so that no block is applied without its transactions. */
  readonly isWhole: boolean
}

/** Looks at a node, each of which applies the blocks that are new. */
export interface Looks {
  /**
   * Asks the node for its newest block, and applies all up to it, or as many as one look takes. Returns true when more
   * can be done at once.
   */
  look(wanted: Wanted, markets: ChainMarkets): Promise<boolean>
  /** Returns the number of blocks between the last applied one and the node's head, as of the last look. */
  lagBlocks(): number
  /** Returns the node's newest block as of the last look, whatever was told since; -1 before the first. */
  seenHead(): number
  /** Returns the time of the last look; that before all times when there is none to build on. */
  lookedAtMs(): number
  /** Notes a head of the node that something else told. */
  sawHead(number: number): void
  /** Makes the next look begin anew, because something failed. */
  forget(): void
}

/** Maximum number of whole blocks that one look reads. */
const MAX_BLOCKS_PER_READ = 16

/**
 * Number of newest blocks that are read by one look. Those below are read by ranges of logs of their own, also while
 * they are not final, which takes a quarter of an hour on some chains: a reorganisation that deep is undone down to a
 * block that was stored.
 */
const NEAR_BLOCKS = 64

/** Time for which a node may be behind the last followed block before that is told. */
const MAX_BEHIND_MS = 5_000

const SWITCHED = 'the node switched chains between two answers'

export function createLooks(
  course: Course,
  { client, chain, finality, now }: Pick<CourseOptions, 'client' | 'chain' | 'finality' | 'now'>,
): Looks {
  const { nextNumber, proof } = course
  const readRange = createRangeReader(client, chain)
  let nodeHead = 0
  let seenHead = -1
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let behindSinceMs: number | undefined

  const lagBlocks = (): number => Math.max(0, nodeHead + 1 - nextNumber())
  const rangeEnd = (): number => rangeEndOf(finality, nodeHead, nextNumber())
  const isNear = (): boolean => Number.isFinite(lookedAtMs) && rangeEnd() < nextNumber()

  async function look(wanted: Wanted, markets: ChainMarkets): Promise<boolean> {
    const last = course.last()
    // The last applied block is asked for too, because some nodes refuse a range without any block.
    const logsFrom = isNear() ? Math.min(proof.from(nextNumber()), last?.number ?? nextNumber()) : undefined
    const news = await readNews(course.node, { ownNumber: last?.number, logsFrom, awaited: wanted.awaited })
    nodeHead = news.newest.block.number
    seenHead = nodeHead
    lookedAtMs = now()
    if (last !== undefined && nodeHead < last.number) return waitForNode(nodeHead, last)
    behindSinceMs = undefined
    if (last !== undefined && news.own?.hash !== last.hash) return course.leaveFork()
    if (!isNear()) return catchUp(markets, rangeEnd())
    if (logsFrom === undefined) return lagBlocks() > 0
    const { logs, isHeard } = news
    if (logs === undefined) return lagBlocks() > 0 && catchUp(markets, nodeHead)
    if (last !== undefined && (await mendMissed(course, { logs, isHeard }, last))) return true
    if (lagBlocks() === 0) return false
    return (await applyNews(course, { ...news, logs }, wanted, markets)) && lagBlocks() > 0
  }

  /** Handles a node that is behind the followed block: it lost blocks, or is another one. */
  async function waitForNode(at: number, last: FollowedBlock): Promise<boolean> {
    if (await course.leaveFork()) return true
    // The node that is asked may be a moment behind the one that pushed a head, or that was asked before.
    behindSinceMs ??= now()
    if (now() - behindSinceMs < MAX_BEHIND_MS) return false
    throw new NodeUnavailableError(`the node is at block ${at}, behind block ${last.number}, which it had before`)
  }

  /** Applies the blocks up to `target` by ranges of logs. */
  async function catchUp(markets: ChainMarkets, target: number): Promise<boolean> {
    // While the service was down, the cursor's block may have been reorganised away.
    if (await course.leaveFork()) return true
    for await (const blocks of readRange(nextNumber(), target)) await course.apply(blocks, NOTHING_REPORTED, markets)
    proof.clear()
    return true
  }

  return {
    look,
    lagBlocks,
    seenHead: () => seenHead,
    lookedAtMs: () => lookedAtMs,
    sawHead(number) {
      nodeHead = Math.max(nodeHead, number)
    },
    forget() {
      lookedAtMs = Number.NEGATIVE_INFINITY
    },
  }
}

/**
 * Returns the last block to read by a range of its own; one before `next` when the node's head is near. First the final
 * one, which is then stored to undo down to.
 */
function rangeEndOf(finality: Pick<Finality, 'lastFinal'>, nodeHead: number, next: number): number {
  if (nodeHead - NEAR_BLOCKS < next) return next - 1
  const final = finality.lastFinal(nodeHead)
  return final >= next ? final : nodeHead - NEAR_BLOCKS
}

/**
 * Applies the blocks that a look told of: those with logs, and the newest one. Returns false when nothing more can be
 * done at once, because the node left its chain and came back.
 */
async function applyNews(
  course: Course,
  { newest, logs, reported }: News & { readonly logs: readonly RpcLog[] },
  { isWhole }: Wanted,
  markets: ChainMarkets,
): Promise<boolean> {
  const next = course.nextNumber()
  const byNumber = Map.groupBy(logs, ({ blockNumber }) => blockNumber)
  const { number: newestNumber, hash } = newest.block
  if (course.node.mayHaveLogs(newest.logsBloom) && !byNumber.has(newestNumber)) byNumber.set(newestNumber, [])
  const withLogs = [...byNumber.keys()].filter((number) => number >= next)
  const wholes = isWhole ? Array.from({ length: newestNumber - next + 1 }, (_, i) => next + i) : withLogs
  const read = wholes.slice(0, MAX_BLOCKS_PER_READ)
  const blocks = read.length === 0 ? [] : await readWholeBlocks(course.node, read, byNumber)
  const isAll = read.length === wholes.length
  if (isAll && read.at(-1) !== newestNumber) blocks.push(emptyBlock(newest))
  if (isAll && blocks.at(-1)?.block.hash !== hash) throw new NodeUnavailableError(SWITCHED)
  for (const block of blocks) {
    const last = course.last()
    const isChild = block.block.number === (last?.number ?? 0) + 1
    if (last !== undefined && isChild && block.block.parentHash !== last.hash) return course.leaveFork()
    await course.apply([block], reported, markets)
  }
  return true
}

/**
 * Compares what was applied with a new answer. Returns true when blocks were undone because logs were missed. While a
 * second provider is silent the same blocks are compared again with the next answer.
 */
async function mendMissed(
  course: Course,
  { logs, isHeard }: { readonly logs: readonly RpcLog[]; readonly isHeard: boolean },
  last: FollowedBlock,
): Promise<boolean> {
  const { missed, vanished, hasBloomLied } = course.proof.compare(logs, last.number)
  if (isHeard) course.proof.clear()
  const wrong = missed.length > 0 ? missed : await replacedOf(course.node.client, vanished)
  if (wrong.length === 0) return false
  if (hasBloomLied) course.distrustBlooms()
  return course.redoFrom(Math.min(...wrong))
}
