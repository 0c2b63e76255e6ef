import type { Address } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import type { ChainHead } from '../journal/clock.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { readSnapshot, type StoredSnapshot } from '../store/snapshotStore.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { createProofs, type ProofsOptions } from './proveTraders.ts'
import { createReindexing, type ReindexingOptions } from './reindexBlocks.ts'
import { createChainSnapshot } from './takeSnapshot.ts'

/** The first block of which the history is known. */
export interface KnownSince {
  readonly block: number
  /** Time of the block; `null` when the chain was followed from a configured block on, which is not kept. */
  readonly timestampMs: number | null
}

/** The progress of a chain's snapshot. */
export interface SnapshotProgress {
  readonly block: number
  /** Number of entries in the Diamond's list of traders. */
  readonly listed: number
  /** Number of entries that are read and stored. */
  readonly read: number
}

/** Knowledge of a chain besides its followed blocks: what a snapshot found, and what is proven to be complete. */
export interface ChainKnowledge {
  /** Loads what is stored. Called once the cursor is loaded, before anything else. */
  open(): Promise<void>
  /**
   * Called before blocks are undone, with what was found as of them. `all`: the whole snapshot is undone, so nobody is
   * known until `open` is called again.
   */
  prepareUndo(blocks: readonly FollowedBlock[] | 'all'): Promise<void>
  /** True while a snapshot is taken, so that positions and orders of the chain are known in part. */
  isTakingSnapshot(): boolean
  /**
   * True when everything that this trader has on the chain is known: no snapshot is being taken, and the Diamond's
   * counters of the trader agreed with what was read. False until it is loaded.
   */
  isKnown(trader: Address): boolean
  /** Returns the number of traders of whom it is not proven that everything is known. */
  unprovenTraders(): number
  /**
   * Returns the block since which the history of the chain is known; `undefined` while nothing is, and when the first
   * block that was once configured is so no longer.
   */
  knownSince(): KnownSince | undefined
  /** Returns the block at which the snapshot was taken; `undefined` when there is none. */
  snapshotBlock(): FollowedBlock | undefined
  /** Returns how far the snapshot is, also when it is complete; `undefined` when there is none. */
  snapshotProgress(): SnapshotProgress | undefined
  /** Takes the next part of the snapshot, and moves the head to its block with the last one. */
  takeSnapshot(markets: ChainMarkets): Promise<void>
  /** Mends and proves what is known. Called between two steps of the follower, while it has nothing else to do. */
  look(markets: ChainMarkets): Promise<void>
}

export interface KnowledgeOptions extends ProofsOptions, ReindexingOptions {
  readonly chain: ServedChain
  readonly head: ChainHead
  /**
   * First block to apply when nothing is stored yet. `undefined`: everything that is open is read at the node's head,
   * and the chain is followed from there.
   */
  readonly startBlock: number | undefined
  /** Called when mending or proving fails otherwise than by the node. */
  readonly onError: (error: unknown) => void
}

export function createChainKnowledge(options: KnowledgeOptions): ChainKnowledge {
  const { chain, head, store, startBlock } = options
  const snapshot = createChainSnapshot(options)
  const proofs = createProofs(options)
  const reindexing = createReindexing(options)
  let isOpen = false
  let taken: StoredSnapshot | undefined

  const snapshotBlock = (): FollowedBlock | undefined => (taken?.isComplete === true ? taken.block : undefined)
  // A snapshot that was begun is finished, also when a first block is configured meanwhile.
  const isTakingSnapshot = (): boolean =>
    isOpen && head.current() === undefined && (startBlock === undefined || taken !== undefined)

  return {
    async open() {
      await proofs.open()
      taken = await readSnapshot(store.read, chain.slug)
      isOpen = true
    },
    async prepareUndo(blocks) {
      if (blocks === 'all') isOpen = false
      else await proofs.doubt(blocks)
    },
    isTakingSnapshot,
    isKnown: (trader) => isOpen && !isTakingSnapshot() && !proofs.isUnproven(trader),
    unprovenTraders: () => proofs.unprovenTraders(),
    knownSince() {
      const found = snapshotBlock()
      const block = found?.number ?? startBlock
      if (head.current() === undefined || block === undefined) return undefined
      return { block, timestampMs: found?.timestampMs ?? null }
    },
    snapshotBlock,
    snapshotProgress: () => taken && { block: taken.block.number, listed: taken.traderCount, read: taken.nextTrader },
    async takeSnapshot(markets) {
      taken = await snapshot.step(markets)
      await proofs.open()
      head.moveTo(snapshotBlock())
    },
    async look(markets) {
      // What can't be mended must not keep the chain from being followed.
      for (const job of [reindexing, proofs]) await job.look(markets).catch(options.onError)
    },
  }
}
