import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { listBlocks, type FollowedBlock, readLastBlock } from '../store/blockStore.ts'
import type { Store } from '../store/sql.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { Finality } from '../chain/finality.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { bloomTestOf, readBlocks, createRangeReader, type AwaitedHash, type ReportedReading } from './readBlocks.ts'
import { blockCall, resultOf, parseBlock, type ChainBlock } from '../chain/blocks.ts'
import type { OrderId, ChainSlug } from '@bezel/protocol'
import { listAwaitedAttempts } from '../store/attemptStore.ts'
import type { AccountLog } from '../journal/accountLog.ts'
import type { ChainHead } from '../journal/clock.ts'
import { applyBlocks, type ApplyOptions } from './applyBlocks.ts'
import { hasLapsed } from '../trading/orders/openAttempts.ts'
import { readRenewedParams } from './readRenewedParams.ts'
import { createChainKnowledge, type ChainKnowledge, type KnowledgeOptions } from './chainKnowledge.ts'
import { undoBlock } from './undoBlock.ts'

/** Counters of the follower since the start. */
export interface FollowerStats extends CursorCounts {
  /** Number of blocks between the cursor and the node's head, as of the last read. */
  readonly lagBlocks: number
}

export interface FollowingOptions extends Omit<CursorOptions, 'chain'>, Omit<KnowledgeOptions, 'head'> {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly store: Store
  /** Told of blocks once they are applied; the next ones wait for it. */
  readonly onApplied?: (blocks: readonly ChainBlock[]) => Promise<void>
  /** Told of the last block that is left once others are undone; the next ones wait for it. */
  readonly onUndone?: (head: FollowedBlock | undefined) => Promise<void>
  readonly finality: Finality
}

/**
 * Follows a chain step by step; each step reads from the node once, and once more where a position was increased. Every
 * step can be repeated after any failure.
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

const NOTHING_REPORTED: ReportedReading = { receipts: [], seen: [] }

/** Maximum number of blocks that one read near the head takes. */
const MAX_BLOCKS_PER_READ = 16

/**
 * Number of newest blocks that are always read one by one. Those below are read by ranges of logs even while they are
 * not final, which takes a quarter of an hour on some chains: a reorganisation that deep is undone down to a block that
 * was stored.
 */
const SINGLE_BLOCKS = 64

export function createFollowing(options: FollowingOptions): Following {
  const { chain, client, head, finality } = options
  const cursor = createCursor({ ...options, chain: chain.slug })
  const mayHaveLogs = bloomTestOf(chain.diamond)
  const readRange = createRangeReader(client, chain)
  const listAwaited = createAwaitedHashes(options)
  const requireDecoded = createDecodedCheck()
  const knowledge = createChainKnowledge(options)
  let nodeHead: number | undefined

  const nextNumber = (): number => (head.current()?.number ?? (options.startBlock ?? 0) - 1) + 1
  const lagBlocks = (): number => Math.max(0, (nodeHead ?? 0) + 1 - nextNumber())

  async function leaveFork(): Promise<boolean> {
    if (!(await leaveForkOf({ ...options, cursor, knowledge }))) return false
    await options.onUndone?.(head.current())
    return true
  }
  const rangeEnd = (): number => rangeEndOf(finality, nodeHead ?? 0, nextNumber())

  async function step(markets: ChainMarkets): Promise<boolean> {
    if (knowledge.isTakingSnapshot()) {
      await knowledge.takeSnapshot(markets)
      return true
    }
    const isMore = await follow(markets)
    if (!isMore) await knowledge.look(markets)
    return isMore
  }

  async function follow(markets: ChainMarkets): Promise<boolean> {
    // Far from the head, blocks are read by ranges of logs; this read then only serves to learn the head.
    const count = rangeEnd() >= nextNumber() ? 1 : Math.min(MAX_BLOCKS_PER_READ, Math.max(1, lagBlocks()))
    const awaited = await listAwaited()
    const read = await readBlocks({ client, chain, mayHaveLogs, from: nextNumber(), count, awaited, finality })
    nodeHead = read.head
    if (rangeEnd() >= nextNumber()) return catchUp(markets, rangeEnd())
    if (read.blocks.length === 0) return waitForNode(read.head)
    for (const block of read.blocks) {
      const last = head.current()
      if (last !== undefined && block.block.parentHash !== last.hash) return leaveFork()
      await apply([block], read.reported, markets)
    }
    return lagBlocks() > 0
  }

  async function apply(blocks: readonly ChainBlock[], reported: ReportedReading, markets: ChainMarkets): Promise<void> {
    requireDecoded(blocks)
    const renewed = await readRenewedParams(client, chain.diamond, blocks)
    await cursor.apply(blocks, reported, { markets, renewed })
    await options.onApplied?.(blocks)
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

  /** Applies the blocks up to `target` by ranges of logs. */
  async function catchUp(markets: ChainMarkets, target: number): Promise<boolean> {
    // While the service was down, the cursor's block may have been reorganised away.
    if (await leaveFork()) return true
    for await (const blocks of readRange(nextNumber(), target)) await apply(blocks, NOTHING_REPORTED, markets)
    return true
  }

  return {
    head: () => head.current(),
    stats: () => ({ ...cursor.counts(), lagBlocks: lagBlocks() }),
    knowledge,
    async open() {
      await cursor.open()
      await knowledge.open()
    },
    step,
  }
}

/** Returns the last block to read by a range. First the final one, which is then stored to undo down to. */
function rangeEndOf(finality: Pick<Finality, 'lastFinal'>, nodeHead: number, next: number): number {
  const final = finality.lastFinal(nodeHead)
  return final >= next ? final : nodeHead - SINGLE_BLOCKS
}

/**
 * Returns a check that throws `NodeUnavailableError` for the first log of an event that could not be decoded, so that
 * it is read again: the node may have answered garbage. After that such logs are passed over, because all others'
 * orders must go on.
 */
function createDecodedCheck(): (blocks: readonly ChainBlock[]) => void {
  const doubted = new Set<string>()
  return (blocks) => {
    for (const { block, transactions } of blocks) {
      const event = transactions.flatMap(({ undecoded }) => undecoded).find((name) => !doubted.has(name))
      if (event === undefined) continue
      doubted.add(event)
      throw new NodeUnavailableError(`a ${event} log of block ${block.number} is not as the ABI says`)
    }
  }
}

/**
 * Maximum number of orders whose receipts one read asks for. Each has at most two, which may be asked for in two ways,
 * and providers refuse batches of more than 100 calls.
 */
const MAX_AWAITED = 15

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

/**
 * Compares the kept blocks, newest first, with those of the node. The oldest one is asked for first: when the node has
 * another one there, or none yet, so it is with all of them, which may be thousands.
 */
async function findFork(client: RpcClient, kept: readonly FollowedBlock[]): Promise<Fork> {
  let isForked = false
  const compare = async (part: readonly FollowedBlock[]) => {
    const outcomes = await client.batch(part.map(({ number }) => blockCall(number, false)))
    return part.map((ours, i) => ({ ours, theirs: parseBlock(resultOf(outcomes[i]))?.block }))
  }
  for (let from = 0, size = FIRST_BATCH_BLOCKS; from < kept.length; from += size, size = BLOCKS_PER_BATCH) {
    const [oldest, ...compared] = await compare([kept.at(-1)!, ...kept.slice(from, from + size)])
    for (const { ours, theirs } of compared) {
      if (theirs?.hash === ours.hash) return isForked ? { kind: 'at', ancestor: ours } : { kind: 'none' }
      if (theirs !== undefined) isForked = true
    }
    if (oldest?.theirs === undefined && !isForked) return { kind: 'none' }
    if (oldest?.theirs?.hash !== oldest?.ours.hash) return { kind: 'too_deep' }
  }
  return isForked ? { kind: 'too_deep' } : { kind: 'none' }
}

/** Undoes the blocks that are not part of the node's chain. Returns true when there were any. */
async function leaveForkOf(of: {
  readonly client: RpcClient
  readonly store: Pick<Store, 'read'>
  readonly chain: Pick<ServedChain, 'slug'>
  readonly cursor: Pick<Cursor, 'undoTo'>
  readonly knowledge: Pick<ChainKnowledge, 'snapshotBlock' | 'prepareUndo' | 'open'>
}): Promise<boolean> {
  const kept = await listBlocks(of.store.read, of.chain.slug)
  const fork = await findFork(of.client, kept)
  if (fork.kind === 'none') return false
  // When the blocks from that of the snapshot on are all kept, all of them can be undone, and it is taken again.
  const found = of.knowledge.snapshotBlock()
  const isWhole = found !== undefined && kept.at(-1)?.hash === found.hash
  if (fork.kind === 'too_deep' && !isWhole) throw new ReorgTooDeepError()
  const ancestor = fork.kind === 'at' ? fork.ancestor : undefined
  await of.knowledge.prepareUndo(ancestor === undefined ? 'all' : kept.filter(({ number }) => number > ancestor.number))
  await of.cursor.undoTo(ancestor, found)
  await of.knowledge.open()
  return true
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
  /**
   * Undoes blocks, newest first, each in a transaction of its own, until `ancestor` is the last one; `undefined` undoes
   * all. `found` is the block of the chain's snapshot.
   */
  undoTo(ancestor: FollowedBlock | undefined, found: FollowedBlock | undefined): Promise<void>
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
  /** Blocks that are not final can be undone. */
  readonly finality: Pick<Finality, 'lastFinal'>
  readonly now: () => number
  readonly timeoutBlocks: () => number
}

function createCursor(options: CursorOptions): Cursor {
  const { chain, head, store, accountLog, finality, now, timeoutBlocks } = options
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
        applyBlocks(sql, [first, ...others], reported, { ...clock(), ...facts, finality }, journal),
      )
      head.moveTo(last)
      counts.blocksApplied += blocks.length
      counts.eventsDecoded += eventsIn(blocks)
    },
    async undoTo(ancestor, found) {
      for (let undone = head.current(); undone !== undefined && undone.number > (ancestor?.number ?? -1);) {
        const block = undone
        const origin = { block: block.number, isReorg: true, isSnapshot: block.hash === found?.hash }
        undone = await accountLog.transaction(origin, async (sql, journal) => {
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
