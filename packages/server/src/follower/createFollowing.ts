import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { listBlocks, type FollowedBlock } from '../store/blockStore.ts'
import type { Store } from '../store/sql.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { createAwaitedHashes } from './awaitedHashes.ts'
import { bloomTestOf } from './bloom.ts'
import { createCursor, type CursorCounts, type CursorOptions } from './cursor.ts'
import { findFork } from './findFork.ts'
import { readBlocks } from './readBlock.ts'
import { createRangeReader } from './readRange.ts'

/** How the follower has done since the start. */
export interface FollowerStats extends CursorCounts {
  /** Blocks between the cursor and the node's head, as of the last look. */
  readonly lagBlocks: number
}

export interface FollowingOptions extends Omit<CursorOptions, 'chain'> {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly store: Store
  /** The first block to apply when nothing is followed yet. */
  readonly startBlock: number
}

/** The work of following, one look at the node at a time. Every step can be repeated after any failure. */
export interface Following {
  head(): FollowedBlock | undefined
  stats(): FollowerStats
  /** Takes up the cursor that is stored. Before the first step. */
  open(): Promise<void>
  /** Whether there is more to do at once. Throws `NodeUnavailableError`, `ReorgTooDeepError` and what the store throws. */
  step(markets: ChainMarkets): Promise<boolean>
}

/** Blocks near the head that one look reads. */
const MAX_BLOCKS_PER_READ = 16

export function createFollowing(options: FollowingOptions): Following {
  const { chain, client, store, finalityDepth } = options
  const cursor = createCursor({ ...options, chain: chain.slug })
  const mayHaveLogs = bloomTestOf(chain.diamond)
  const readRange = createRangeReader(client, chain)
  const awaitedHashes = createAwaitedHashes(options)
  let nodeHead: number | undefined

  const nextNumber = (): number => (cursor.head()?.number ?? options.startBlock - 1) + 1
  const lagBlocks = (): number => Math.max(0, (nodeHead ?? 0) + 1 - nextNumber())

  async function step(markets: ChainMarkets): Promise<boolean> {
    // Far from the head the blocks come by ranges, and only the head is of interest here.
    const count = lagBlocks() > finalityDepth ? 1 : Math.min(MAX_BLOCKS_PER_READ, Math.max(1, lagBlocks()))
    const awaited = await awaitedHashes()
    const read = await readBlocks({ client, chain, mayHaveLogs, from: nextNumber(), count, awaited })
    nodeHead = read.head
    if (lagBlocks() > finalityDepth) return catchUp(markets, read.head - finalityDepth)
    if (read.blocks.length === 0) return waitForNode(read.head)
    for (const block of read.blocks) {
      const head = cursor.head()
      if (head !== undefined && block.block.parentHash !== head.hash) return leaveFork()
      await cursor.apply([block], read.receipts, markets)
    }
    return lagBlocks() > 0
  }

  /** The node has no next block: nothing is new, or it lost the ones that were followed. */
  async function waitForNode(head: number): Promise<boolean> {
    if (head >= nextNumber()) throw new NodeUnavailableError('the node has a head but not the block before it')
    if (cursor.head() === undefined || head === nextNumber() - 1) return false
    if (await leaveFork()) return true
    throw new NodeUnavailableError(
      `the node is at block ${head}, behind block ${nextNumber() - 1}, which it had before`,
    )
  }

  /** Blocks that can't be undone any more, by ranges of logs. */
  async function catchUp(markets: ChainMarkets, target: number): Promise<boolean> {
    // The cursor may have been left on a fork while nobody followed.
    if (await leaveFork()) return true
    for await (const blocks of readRange(nextNumber(), target)) await cursor.apply(blocks, [], markets)
    return true
  }

  /** Undoes what is not part of the node's chain. Whether there was anything. */
  async function leaveFork(): Promise<boolean> {
    const fork = await findFork(client, await listBlocks(store.read, chain.slug))
    if (fork.kind === 'too_deep') throw new ReorgTooDeepError()
    if (fork.kind === 'at') await cursor.undoTo(fork.ancestor)
    return fork.kind === 'at'
  }

  return {
    head: () => cursor.head(),
    stats: () => ({ ...cursor.counts(), lagBlocks: lagBlocks() }),
    open: () => cursor.open(),
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
