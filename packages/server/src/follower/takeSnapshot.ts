import type { ChainSlug } from '@bezel/protocol'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { AccountLog, Journal } from '../journal/accountLog.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { insertBlock, type FollowedBlock } from '../store/blockStore.ts'
import { addUnproven, readSnapshot, saveSnapshot, type StoredSnapshot } from '../store/snapshotStore.ts'
import { listVanishedPositions } from '../store/positionStore.ts'
import type { Sql, Store } from '../store/sql.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { createBlockScope } from './blockScope.ts'
import { undoBlock } from './undoBlock.ts'
import { adoptTraders } from './adoptTraders.ts'
import { disagreementOf, type FoundTrader } from './foundTraders.ts'
import { BlockGoneError, createDiamondNode, readPart, readSnapshotBlock, type DiamondNode } from './readTraders.ts'

export interface SnapshotOptions {
  readonly chain: Pick<ServedChain, 'slug' | 'diamond'>
  readonly client: RpcClient
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  readonly now: () => number
  readonly timeoutBlocks: () => number
  /** Number of entries of the Diamond's list of traders that one part covers. Default 500. */
  readonly tradersPerPart?: number
}

/** Takes the snapshot of a chain of which nothing is followed yet, part by part. */
export interface ChainSnapshot {
  /**
   * Reads and stores the next part. Returns how far it is; `undefined` when its block is no longer there, so that the
   * next step begins anew. Every step can be repeated after any failure, also by another process.
   */
  step(markets: ChainMarkets): Promise<StoredSnapshot | undefined>
}

/**
 * Number of failures in a row after which the state of the block counts as gone at the node, and a newer block is
 * taken. Nodes keep the state of a block for minutes.
 */
const MAX_FAILURES = 5

/** The part after the last entry of the list. */
const NOTHING_LEFT = { found: [], to: -1 } as const

export function createChainSnapshot(options: SnapshotOptions): ChainSnapshot {
  const { chain, client, store, accountLog, timeoutBlocks, tradersPerPart = 500 } = options
  const node = createDiamondNode({ client, diamond: chain.diamond })
  let failures = 0
  /** Halved by each failure, because a node may refuse what takes much; doubled by each part that was read. */
  let entriesAtOnce = tradersPerPart

  async function begin(): Promise<StoredSnapshot> {
    const { block, traderCount } = await readSnapshotBlock(node)
    const begun = { block, traderCount, nextTrader: 0, isComplete: false }
    await accountLog.transaction({ chain: chain.slug }, { block: null, isReorg: false }, (sql) =>
      saveSnapshot(sql, chain.slug, begun),
    )
    return begun
  }

  /** Takes back everything that was found at the block, so that another one can be taken. */
  async function abandon({ block }: StoredSnapshot): Promise<void> {
    const origin = { block: block.number, isReorg: true, isSnapshot: true }
    await accountLog.transaction({ chain: chain.slug }, origin, (sql, journal, { nowMs }) =>
      undoBlock(sql, block, { chain: chain.slug, nowMs, timeoutBlocks: timeoutBlocks() }, journal),
    )
  }

  /** Stores a part and, with the last one, the block from which on the chain is followed. */
  async function keep(snapshot: StoredSnapshot, found: readonly FoundTrader[], markets: ChainMarkets): Promise<void> {
    const { block } = snapshot
    const origin = { block: block.number, isReorg: false, isSnapshot: true }
    await accountLog.transaction({ chain: chain.slug }, origin, async (sql, journal, { nowMs }) => {
      const scope = createBlockScope({ sql, chain: chain.slug, block, markets, renewed: new Map(), journal })
      await adoptTraders(scope, found)
      const clock = { nowMs, headBlock: block.number, headMs: block.timestampMs, timeoutBlocks: timeoutBlocks() }
      await scope.settle(clock)
      for (const trader of found) {
        const reason = disagreementOf(trader)
        if (reason !== undefined) await addUnproven(sql, chain.slug, { trader: trader.trader, reason })
      }
      await saveSnapshot(sql, chain.slug, snapshot)
      if (snapshot.isComplete) await finish(sql, chain.slug, block, journal)
    })
  }

  async function takePart(snapshot: StoredSnapshot, markets: ChainMarkets): Promise<StoredSnapshot> {
    const { block, traderCount, nextTrader: from } = snapshot
    const part = { from, to: Math.min(traderCount, from + entriesAtOnce) - 1 }
    const { found, to } = from < traderCount ? await readPart(node, block, part) : NOTHING_LEFT
    const nextTrader = Math.min(traderCount, Math.max(from, to + 1))
    const taken = { ...snapshot, nextTrader, isComplete: nextTrader === traderCount }
    await keep(taken, found, markets)
    return taken
  }

  return {
    async step(markets) {
      const snapshot = (await readSnapshot(store.read, chain.slug)) ?? (await begin())
      try {
        const taken = await takePart(snapshot, markets)
        failures = 0
        entriesAtOnce = Math.min(tradersPerPart, 2 * entriesAtOnce)
        return taken
      } catch (error) {
        if (!(error instanceof NodeUnavailableError)) throw error
        const isGone = error instanceof BlockGoneError
        failures += 1
        entriesAtOnce = Math.max(1, Math.floor(entriesAtOnce / 2))
        if (isGone || (failures >= MAX_FAILURES && (await isAnswering(node)))) {
          failures = 0
          await abandon(snapshot)
        }
        if (!isGone) throw error
        return undefined
      }
    },
  }
}

/** Returns false while the node has no answer at all, which says nothing about the state of an older block. */
async function isAnswering(node: DiamondNode): Promise<boolean> {
  try {
    await readSnapshotBlock(node)
    return true
  } catch (error) {
    if (error instanceof NodeUnavailableError) return false
    throw error
  }
}

/** Begins to follow, and tells those whose positions an undone snapshot had found and this one did not. */
async function finish(sql: Sql, chain: ChainSlug, block: FollowedBlock, journal: Journal): Promise<void> {
  await insertBlock(sql, chain, block)
  for (const { record } of await listVanishedPositions(sql, chain)) {
    journal.position({ record, before: undefined, after: undefined })
  }
}
