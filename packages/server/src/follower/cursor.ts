import type { ChainSlug } from '@bezel/protocol'
import type { AccountLog } from '../journal/accountLog.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { lastBlock, type FollowedBlock } from '../store/blockStore.ts'
import type { Store } from '../store/sql.ts'
import { applyBlocks } from './applyBlock.ts'
import type { ChainBlock, Receipt } from '../chain/chainBlock.ts'
import { undoBlock } from './undoBlock.ts'

/** How far a chain is applied, moved on and back only together with what it covers. */
export interface Cursor {
  head(): FollowedBlock | undefined
  /** Takes up what is stored. Before anything else. */
  open(): Promise<void>
  /** All of the blocks in one transaction, or none. */
  apply(blocks: readonly ChainBlock[], receipts: readonly Receipt[], markets: ChainMarkets): Promise<void>
  /** Newest block first, each in a transaction of its own. */
  undoTo(ancestor: FollowedBlock): Promise<void>
  counts(): CursorCounts
}

export interface CursorCounts {
  readonly blocksApplied: number
  readonly blocksUndone: number
  readonly eventsDecoded: number
}

export interface CursorOptions {
  readonly chain: ChainSlug
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  /** So many blocks can be undone. */
  readonly finalityDepth: number
  readonly now: () => number
  readonly timeoutBlocks: () => number
}

export function createCursor({ chain, store, accountLog, finalityDepth, now, timeoutBlocks }: CursorOptions): Cursor {
  const counts = { blocksApplied: 0, blocksUndone: 0, eventsDecoded: 0 }
  let head: FollowedBlock | undefined

  const clock = () => ({ chain, nowMs: now(), timeoutBlocks: timeoutBlocks() })

  return {
    head: () => head,
    async open() {
      head = await lastBlock(store.read, chain)
    },
    async apply(blocks, receipts, markets) {
      const [first, ...others] = blocks
      if (first === undefined) return
      const last = blocks.at(-1)!.block
      await accountLog.transaction({ block: last.number, isReorg: false }, (sql, journal) =>
        applyBlocks(sql, [first, ...others], receipts, { ...clock(), markets, finalityDepth }, journal),
      )
      head = last
      counts.blocksApplied += blocks.length
      counts.eventsDecoded += eventsIn(blocks)
    },
    async undoTo(ancestor) {
      while (head !== undefined && head.number > ancestor.number) {
        const undone = head
        head = await accountLog.transaction({ block: undone.number, isReorg: true }, async (sql, journal) => {
          await undoBlock(sql, undone, clock(), journal)
          return lastBlock(sql, chain)
        })
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
