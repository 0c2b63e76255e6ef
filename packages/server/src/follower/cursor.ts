import type { ChainSlug } from '@bezel/protocol'
import type { ChainBlock } from '../chain/blocks.ts'
import type { Finality } from '../chain/finality.ts'
import type { AccountLog } from '../journal/accountLog.ts'
import type { CommitTime } from '../journal/chainTime.ts'
import type { ChainHead } from '../journal/clock.ts'
import { readLastBlock, type FollowedBlock } from '../store/blockStore.ts'
import type { Store } from '../store/sql.ts'
import { applyBlocks, type ApplyOptions } from './applyBlocks.ts'
import type { ReportedReading } from './readReported.ts'
import { listFoundTraders } from '../store/snapshotStore.ts'
import { tellApplied, tellUndone } from './toldBlocks.ts'
import { undoBlock } from './undoBlock.ts'

/** The last applied block of a chain. Moves forward and back only in the same transaction as the data of the blocks. */
export interface Cursor {
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
  /** Throws a `CursorMovedError` when the stored cursor is another block than the one that was last moved to. */
  requireAt(stored: FollowedBlock | undefined): void
  counts(): CursorCounts
}

export interface CursorCounts {
  readonly blocksApplied: number
  readonly blocksUndone: number
  readonly eventsDecoded: number
}

export interface CursorOptions {
  /** The chain's head as the rest of the service sees it; moved with every block that is applied or undone. */
  readonly head: ChainHead
  readonly chain: ChainSlug
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  /** Blocks that are not final can be undone. */
  readonly finality: Pick<Finality, 'lastFinal'>
  readonly timeoutBlocks: () => number
}

export function createCursor(options: CursorOptions): Cursor {
  const { chain, head, store, accountLog, finality, timeoutBlocks } = options
  const counts = { blocksApplied: 0, blocksUndone: 0, eventsDecoded: 0 }

  const clockOf = ({ nowMs }: CommitTime) => ({ chain, nowMs, timeoutBlocks: timeoutBlocks() })

  return {
    async open() {
      head.moveTo(await readLastBlock(store.read, chain))
    },
    async apply(blocks, reported, facts) {
      const [first, ...others] = blocks
      if (first === undefined) return
      const last = blocks.at(-1)!.block
      const expected = head.current()
      await accountLog.transaction({ chain }, { block: last.number, isReorg: false }, async (sql, journal, at) => {
        requireHead(expected, at.head)
        await applyBlocks(sql, [first, ...others], reported, { ...clockOf(at), ...facts, finality }, journal)
        // A file of SQLite belongs to one process, which has the blocks at hand.
        if (sql.engine === 'postgres') journal.step(tellApplied(blocks))
      })
      head.moveTo(last)
      counts.blocksApplied += blocks.length
      counts.eventsDecoded += eventsIn(blocks)
    },
    async undoTo(ancestor, found) {
      for (let undone = head.current(); undone !== undefined && undone.number > (ancestor?.number ?? -1);) {
        const block = undone
        const origin = { block: block.number, isReorg: true, isSnapshot: block.hash === found?.hash }
        undone = await accountLog.transaction({ chain }, origin, async (sql, journal, at) => {
          requireHead(block, at.head)
          const doubted = await listFoundTraders(sql, chain, block.hash)
          await undoBlock(sql, block, clockOf(at), journal)
          const left = await readLastBlock(sql, chain)
          if (sql.engine === 'postgres') journal.step(tellUndone(left, doubted))
          return left
        })
        head.moveTo(undone)
        counts.blocksUndone += 1
      }
    },
    requireAt: (stored) => requireHead(head.current(), stored),
    counts: () => counts,
  }
}

function eventsIn(blocks: readonly ChainBlock[]): number {
  const transactions = blocks.flatMap((block) => block.transactions)
  return transactions.reduce((count, { events }) => count + events.length, 0)
}

/** Thrown when the stored cursor is not where this follower left it: somebody else follows the chain as well. */
export class CursorMovedError extends Error {
  override readonly name = 'CursorMovedError'
}

/**
 * Throws a `CursorMovedError` when the stored cursor is another block than the follower expects. Called inside the
 * transaction that moves it, so that no block is applied or undone twice.
 */
function requireHead(expected: FollowedBlock | undefined, stored: FollowedBlock | undefined): void {
  if (expected?.hash === stored?.hash && expected?.number === stored?.number) return
  throw new CursorMovedError(
    `The cursor is at ${nameOf(stored)} and was expected at ${nameOf(expected)}: another process follows this chain with the same store. It is read again.`,
  )
}

function nameOf(block: FollowedBlock | undefined): string {
  return block === undefined ? 'no block' : `block ${block.number} (${block.hash})`
}
