import type { Hex } from '@bezel/protocol'
import type { ChainMarkets } from '../../market/chainMarkets.ts'
import { listAwaitedAttempts } from '../../store/attemptStore.ts'
import { lastBlock, listBlocks, type FollowedBlock } from '../../store/blockStore.ts'
import type { Store } from '../../store/sql.ts'
import type { RpcClient } from '../rpcClient.ts'
import { NodeUnavailableError } from '../rpcOutcome.ts'
import type { ServedChain } from '../servedChain.ts'
import { applyBlock, type ApplyOptions, type BlockChanges } from './applyBlock.ts'
import { bloomTestOf } from './bloom.ts'
import type { ChainBlock, Receipt } from './chainBlock.ts'
import { findFork } from './findFork.ts'
import { readBlocks } from './readBlock.ts'
import { RangeRefusedError, readRange } from './readRange.ts'
import { undoBlock } from './undoBlock.ts'

/** How the follower has done since the start. */
export interface FollowerStats {
  readonly blocksApplied: number
  readonly blocksUndone: number
  readonly eventsDecoded: number
  /** Blocks between the cursor and the node's head, as of the last look. */
  readonly lagBlocks: number
}

export interface FollowingOptions {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly store: Store
  readonly finalityDepth: number
  /** The first block to apply when nothing is followed yet. */
  readonly startBlock: number
  readonly now: () => number
  readonly timeoutBlocks: () => number
  readonly onCommit: (changes: BlockChanges) => void
}

/** The work of following, one look at the node at a time. Every step can be repeated after any failure. */
export interface Following {
  head(): FollowedBlock | undefined
  /** The node's, as of the last look. */
  nodeHead(): number | undefined
  stats(): FollowerStats
  /** Takes up the cursor that is stored. Before the first step. */
  open(): Promise<void>
  /** Whether there is more to do at once. Throws `NodeUnavailableError`, `ReorgTooDeepError` and what the store throws. */
  step(markets: ChainMarkets): Promise<boolean>
}

/** Receipts that one look asks for. */
const MAX_AWAITED = 50
/** Blocks near the head that one look reads. */
const MAX_BLOCKS_PER_READ = 16
/** Far from it: blocks of one range of logs, to begin with and at most. */
const FIRST_RANGE_BLOCKS = 1_000
const MAX_RANGE_BLOCKS = 10_000
/** Blocks of a range that are applied in one transaction, so that other writers get their turn. */
const BLOCKS_PER_TRANSACTION = 50

export function createFollowing(options: FollowingOptions): Following {
  const { chain, client, store, finalityDepth } = options
  const { slug } = chain
  const mayHaveLogs = bloomTestOf(chain.diamond)
  const counts = { blocksApplied: 0, blocksUndone: 0, eventsDecoded: 0 }
  let cursor: FollowedBlock | undefined
  let nodeHead: number | undefined
  let rangeBlocks = FIRST_RANGE_BLOCKS

  const nextNumber = (): number => (cursor === undefined ? options.startBlock : cursor.number + 1)
  const lagBlocks = (): number => Math.max(0, (nodeHead ?? 0) + 1 - nextNumber())

  function applyOptions(markets: ChainMarkets): ApplyOptions {
    return { chain: slug, markets, finalityDepth, nowMs: options.now(), timeoutBlocks: options.timeoutBlocks() }
  }

  /** After a commit: only now may anybody see it. */
  function committed(changes: BlockChanges): void {
    cursor = changes.block
    options.onCommit(changes)
  }

  async function apply(
    blocks: readonly ChainBlock[],
    receipts: readonly Receipt[],
    markets: ChainMarkets,
  ): Promise<void> {
    const all = await store.transaction(async (sql) => {
      const changes: BlockChanges[] = []
      for (const block of blocks) changes.push(await applyBlock(sql, block, receipts, applyOptions(markets)))
      return changes
    })
    counts.blocksApplied += blocks.length
    for (const { transactions } of blocks) {
      for (const { events } of transactions) counts.eventsDecoded += events.length
    }
    committed({
      block: all.at(-1)?.block,
      orders: all.flatMap(({ orders }) => orders),
      positions: all.flatMap(({ positions }) => positions),
      isReorg: false,
    })
  }

  async function awaitedHashes(): Promise<Hex[]> {
    const awaited = await listAwaitedAttempts(store.read, slug, MAX_AWAITED)
    return awaited.flatMap(({ attempt }) => (attempt.submittedHash === null ? [] : [attempt.submittedHash]))
  }

  async function step(markets: ChainMarkets): Promise<boolean> {
    const count = Math.min(MAX_BLOCKS_PER_READ, Math.max(1, lagBlocks()))
    const awaited = await awaitedHashes()
    const read = await readBlocks({ client, chain, mayHaveLogs, from: nextNumber(), count, awaited })
    nodeHead = read.head
    if (lagBlocks() > finalityDepth) return catchUp(markets, read.head - finalityDepth)
    if (read.blocks.length === 0) return waitForNode(read.head)
    for (const block of read.blocks) {
      if (cursor !== undefined && block.block.parentHash !== cursor.hash) return leaveFork()
      await apply([block], read.receipts, markets)
    }
    return lagBlocks() > 0
  }

  /** The node has no next block: nothing is new, or it lost the ones that were followed. */
  async function waitForNode(head: number): Promise<boolean> {
    if (head >= nextNumber()) throw new NodeUnavailableError('the node has a head but not the block before it')
    if (cursor === undefined || head === cursor.number) return false
    if (await leaveFork()) return true
    throw new NodeUnavailableError(`the node is at block ${head}, behind block ${cursor.number}, which it had before`)
  }

  /** Blocks that can't be undone any more, by ranges of logs. */
  async function catchUp(markets: ChainMarkets, target: number): Promise<boolean> {
    // The cursor may have been left on a fork while nobody followed.
    if (cursor !== undefined && (await leaveFork())) return true
    const from = nextNumber()
    const to = Math.min(target, from + rangeBlocks - 1)
    const blocks = await readRange(client, chain, { from, to }).catch((error: unknown) => {
      rangeBlocks = Math.max(1, Math.floor(rangeBlocks / 2))
      if (error instanceof RangeRefusedError && from < to) return undefined
      throw error
    })
    if (blocks === undefined) return true
    rangeBlocks = Math.min(MAX_RANGE_BLOCKS, rangeBlocks * 2)
    for (let at = 0; at < blocks.length; at += BLOCKS_PER_TRANSACTION) {
      await apply(blocks.slice(at, at + BLOCKS_PER_TRANSACTION), [], markets)
    }
    return true
  }

  /** Undoes what is not part of the node's chain, newest block first. Whether there was anything. */
  async function leaveFork(): Promise<boolean> {
    const fork = await findFork(client, await listBlocks(store.read, slug))
    if (fork.kind === 'too_deep') throw new ReorgTooDeepError()
    if (fork.kind === 'none') return false
    while (cursor !== undefined && cursor.number > fork.ancestor.number) {
      const undone = cursor
      const nowMs = options.now()
      const timeoutBlocks = options.timeoutBlocks()
      committed(await store.transaction((sql) => undoBlock(sql, undone, { chain: slug, nowMs, timeoutBlocks })))
      counts.blocksUndone += 1
    }
    return true
  }

  return {
    head: () => cursor,
    nodeHead: () => nodeHead,
    stats: () => ({ ...counts, lagBlocks: lagBlocks() }),
    async open() {
      cursor = await lastBlock(store.read, slug)
    },
    step,
  }
}

/** The node's chain leaves ours before the oldest block that can be undone. */
export class ReorgTooDeepError extends Error {
  override readonly name = 'ReorgTooDeepError'

  constructor() {
    super('the node is on a chain that has none of the blocks that are kept for undoing')
  }
}
