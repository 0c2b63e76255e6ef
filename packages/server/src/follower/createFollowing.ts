import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { listBlocks, type FollowedBlock, readLastBlock, deleteBlock } from '../store/blockStore.ts'
import type { Store, Sql } from '../store/sql.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { bloomTestOf, readBlocks, createRangeReader, type AwaitedHash, type ReportedReading } from './readBlocks.ts'
import { blockCall, resultOf, parseBlock, type ChainBlock } from '../chain/blocks.ts'
import type { OrderId, ChainSlug } from '@bezel/protocol'
import { listAwaitedAttempts } from '../store/attemptStore.ts'
import type { AccountLog, Journal } from '../journal/accountLog.ts'
import type { ChainHead } from '../journal/clock.ts'
import { applyBlocks, type ApplyOptions } from './applyBlocks.ts'
import { hasLapsed } from '../trading/orders/openAttempts.ts'
import { readRenewedParams } from './readRenewedParams.ts'
import { refoldOrder, refoldPosition } from '../journal/refold.ts'
import { deleteFills } from '../store/fillStore.ts'
import { deleteOrderEvents } from '../store/orderEventStore.ts'
import { listTimedOutSince } from '../store/orderStore.ts'
import { deletePositionEvents, listEarlyUpdates } from '../store/positionStore.ts'

/** Counters of the follower since the start. */
export interface FollowerStats extends CursorCounts {
  /** Number of blocks between the cursor and the node's head, as of the last read. */
  readonly lagBlocks: number
}

export interface FollowingOptions extends Omit<CursorOptions, 'chain'> {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly store: Store
  /** First block to apply when nothing is stored yet. */
  readonly startBlock: number
}

/**
 * Follows a chain step by step; each step reads from the node once, and once more where a position was increased. Every
 * step can be repeated after any failure.
 */
export interface Following {
  head(): FollowedBlock | undefined
  stats(): FollowerStats
  /** Loads the stored cursor. Called before the first step. */
  open(): Promise<void>
  /**
   * Reads and applies the next blocks. Returns true when more can be done at once. Throws `NodeUnavailableError`,
   * `ReorgTooDeepError` and the errors of the store.
   */
  step(markets: ChainMarkets): Promise<boolean>
}

const NOTHING_REPORTED: ReportedReading = { receipts: [], seen: [] }

/** Maximum number of blocks that one read near the head takes. */
const MAX_BLOCKS_PER_READ = 16

export function createFollowing(options: FollowingOptions): Following {
  const { chain, client, head, store, finalityDepth } = options
  const cursor = createCursor({ ...options, chain: chain.slug })
  const mayHaveLogs = bloomTestOf(chain.diamond)
  const readRange = createRangeReader(client, chain)
  const listAwaited = createAwaitedHashes(options)
  let nodeHead: number | undefined

  const nextNumber = (): number => (head.current()?.number ?? options.startBlock - 1) + 1
  const lagBlocks = (): number => Math.max(0, (nodeHead ?? 0) + 1 - nextNumber())

  async function step(markets: ChainMarkets): Promise<boolean> {
    // Far from the head, blocks are read by ranges of logs; this read then only serves to learn the head.
    const count = lagBlocks() > finalityDepth ? 1 : Math.min(MAX_BLOCKS_PER_READ, Math.max(1, lagBlocks()))
    const awaited = await listAwaited()
    const read = await readBlocks({ client, chain, mayHaveLogs, from: nextNumber(), count, awaited })
    nodeHead = read.head
    if (lagBlocks() > finalityDepth) return catchUp(markets, read.head - finalityDepth)
    if (read.blocks.length === 0) return waitForNode(read.head)
    for (const block of read.blocks) {
      const last = head.current()
      if (last !== undefined && block.block.parentHash !== last.hash) return leaveFork()
      await apply([block], read.reported, markets)
    }
    return lagBlocks() > 0
  }

  async function apply(blocks: readonly ChainBlock[], reported: ReportedReading, markets: ChainMarkets): Promise<void> {
    const renewed = await readRenewedParams(client, chain.diamond, blocks)
    await cursor.apply(blocks, reported, { markets, renewed })
  }

  /** Handles a node without a next block: nothing is new, or the node lost blocks that were followed. */
  async function waitForNode(nodeHeadNow: number): Promise<boolean> {
    if (nodeHeadNow >= nextNumber()) throw new NodeUnavailableError('the node has a head but not the block before it')
    if (head.current() === undefined || nodeHeadNow === nextNumber() - 1) return false
    if (await leaveFork()) return true
    throw new NodeUnavailableError(
      `the node is at block ${nodeHeadNow}, behind block ${nextNumber() - 1}, which it had before`,
    )
  }

  /** Applies the blocks up to `target`, which can't be undone any more, by ranges of logs. */
  async function catchUp(markets: ChainMarkets, target: number): Promise<boolean> {
    // While the service was down, the cursor's block may have been reorganised away.
    if (await leaveFork()) return true
    for await (const blocks of readRange(nextNumber(), target)) await apply(blocks, NOTHING_REPORTED, markets)
    return true
  }

  /** Undoes the blocks that are not part of the node's chain. Returns true when there were any. */
  async function leaveFork(): Promise<boolean> {
    const fork = await findFork(client, await listBlocks(store.read, chain.slug))
    if (fork.kind === 'too_deep') throw new ReorgTooDeepError()
    if (fork.kind === 'at') await cursor.undoTo(fork.ancestor)
    return fork.kind === 'at'
  }

  return {
    head: () => head.current(),
    stats: () => ({ ...cursor.counts(), lagBlocks: lagBlocks() }),
    open: () => cursor.open(),
    step,
  }
}

/** Maximum number of orders whose receipts one read asks for; each has at most two. */
const MAX_AWAITED = 25

const BEFORE_ALL = '0' as OrderId

/**
 * Returns a function that lists the next reported hashes to ask the node about, round robin over all orders that wait
 * for a receipt.
 */
export function createAwaitedHashes(of: {
  readonly store: Pick<Store, 'read'>
  readonly chain: Pick<ServedChain, 'slug'>
  readonly now: () => number
}): () => Promise<AwaitedHash[]> {
  let after = BEFORE_ALL
  return async () => {
    const nowMs = of.now()
    const awaited = await listAwaitedAttempts(of.store.read, of.chain.slug, { nowMs, after, orders: MAX_AWAITED })
    const orders = new Set(awaited.map(({ orderId }) => orderId))
    after = orders.size < MAX_AWAITED ? BEFORE_ALL : (awaited.at(-1)?.orderId ?? BEFORE_ALL)
    const byHash = Map.groupBy(awaited, ({ attempt }) => attempt.submittedHash)
    return [...byHash].flatMap(([hash, found]) => {
      if (hash === null) return []
      const isUnseen = found.some(({ attempt }) => attempt.trustedUntilMs !== null && !hasLapsed(attempt, nowMs))
      return [{ hash, isUnseen }]
    })
  }
}

/** The point at which the followed chain and the node's chain part. */
type Fork =
  /** The node has no conflicting block: it is behind, or the two chains agree. */
  | { readonly kind: 'none' }
  | { readonly kind: 'at'; readonly ancestor: FollowedBlock }
  /** Even the oldest kept block is not on the node's chain. */
  | { readonly kind: 'too_deep' }

/** Number of blocks in the first comparison. Small, because reorganisations are short and mostly there is none. */
const FIRST_BATCH_BLOCKS = 2

const BLOCKS_PER_BATCH = 32

/** Compares the kept blocks, newest first, with those of the node. */
async function findFork(client: RpcClient, kept: readonly FollowedBlock[]): Promise<Fork> {
  let isForked = false
  for (let from = 0, size = FIRST_BATCH_BLOCKS; from < kept.length; from += size, size = BLOCKS_PER_BATCH) {
    const part = kept.slice(from, from + size)
    const outcomes = await client.batch(part.map(({ number }) => blockCall(number, false)))
    for (const [i, ours] of part.entries()) {
      const theirs = parseBlock(resultOf(outcomes[i]))?.block
      if (theirs?.hash === ours.hash) return isForked ? { kind: 'at', ancestor: ours } : { kind: 'none' }
      if (theirs !== undefined) isForked = true
    }
  }
  return isForked ? { kind: 'too_deep' } : { kind: 'none' }
}

/** Thrown when the node's chain departs from the followed one before the oldest block that can be undone. */
export class ReorgTooDeepError extends Error {
  override readonly name = 'ReorgTooDeepError'

  constructor() {
    super('the node is on a chain that has none of the blocks that are kept for undoing')
  }
}

/** The last applied block of a chain. Moves forward and back only in the same transaction as the data of the blocks. */
interface Cursor {
  /** Loads the stored cursor. Called before anything else. */
  open(): Promise<void>
  /** Applies all of the blocks in one transaction, or none. */
  apply(
    blocks: readonly ChainBlock[],
    reported: ReportedReading,
    facts: Pick<ApplyOptions, 'markets' | 'renewed'>,
  ): Promise<void>
  /** Undoes blocks, newest first, each in a transaction of its own, until `ancestor` is the last one. */
  undoTo(ancestor: FollowedBlock): Promise<void>
  counts(): CursorCounts
}

interface CursorCounts {
  readonly blocksApplied: number
  readonly blocksUndone: number
  readonly eventsDecoded: number
}

interface CursorOptions {
  /** The chain's head as the rest of the service sees it; moved with every block that is applied or undone. */
  readonly head: ChainHead
  readonly chain: ChainSlug
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  /** Number of newest blocks that can be undone. */
  readonly finalityDepth: number
  readonly now: () => number
  readonly timeoutBlocks: () => number
}

function createCursor(options: CursorOptions): Cursor {
  const { chain, head, store, accountLog, finalityDepth, now, timeoutBlocks } = options
  const counts = { blocksApplied: 0, blocksUndone: 0, eventsDecoded: 0 }

  const clock = () => ({ chain, nowMs: now(), timeoutBlocks: timeoutBlocks() })

  return {
    async open() {
      head.moveTo(await readLastBlock(store.read, chain))
    },
    async apply(blocks, reported, facts) {
      const [first, ...others] = blocks
      if (first === undefined) return
      const last = blocks.at(-1)!.block
      await accountLog.transaction({ block: last.number, isReorg: false }, (sql, journal) =>
        applyBlocks(sql, [first, ...others], reported, { ...clock(), ...facts, finalityDepth }, journal),
      )
      head.moveTo(last)
      counts.blocksApplied += blocks.length
      counts.eventsDecoded += eventsIn(blocks)
    },
    async undoTo(ancestor) {
      for (let undone = head.current(); undone !== undefined && undone.number > ancestor.number;) {
        const block = undone
        undone = await accountLog.transaction({ block: block.number, isReorg: true }, async (sql, journal) => {
          await undoBlock(sql, block, clock(), journal)
          return readLastBlock(sql, chain)
        })
        head.moveTo(undone)
        counts.blocksUndone += 1
      }
    },
    counts: () => counts,
  }
}

function eventsIn(blocks: readonly ChainBlock[]): number {
  const transactions = blocks.flatMap((block) => block.transactions)
  return transactions.reduce((count, { events }) => count + events.length, 0)
}

/**
 * Undoes the last block inside the caller's transaction. Its events and fills are deleted; the orders and positions it
 * touched, and those that timed out because of its number, are folded again without it.
 */
async function undoBlock(
  sql: Sql,
  { number, hash, timestampMs: headMs }: FollowedBlock,
  { chain, nowMs, timeoutBlocks }: Pick<ApplyOptions, 'chain' | 'nowMs' | 'timeoutBlocks'>,
  journal: Journal,
): Promise<void> {
  const timedOut = await listTimedOutSince(sql, chain, number - 1 - timeoutBlocks)
  const orderIds = new Set([...(await deleteOrderEvents(sql, chain, hash)), ...timedOut])
  const early = await listEarlyUpdates(sql, chain, number - 1)
  const positionIds = new Set([...(await deletePositionEvents(sql, chain, hash)), ...early])
  await deleteFills(sql, chain, hash)
  await deleteBlock(sql, chain, number)

  const clock = { nowMs, headBlock: number - 1, headMs, timeoutBlocks }
  for (const id of positionIds) await refoldPosition(sql, id, clock, journal)
  for (const id of orderIds) await refoldOrder(sql, id, clock, journal)
}
