import type { OrderId } from '@bezel/protocol'
import type { ChainBlock } from '../chain/blocks.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { AccountLog, Journal } from '../journal/accountLog.ts'
import type { ChainHead } from '../journal/clock.ts'
import { findBlock, insertKeptBlock } from '../store/blockStore.ts'
import { listFillIds } from '../store/fillStore.ts'
import { deleteLogged, listReindexes, moveReindex, type Reindex } from '../store/reindexStore.ts'
import type { Store } from '../store/sql.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { applyTransaction } from './applyBlocks.ts'
import { createBlockScope } from './blockScope.ts'
import { createRangeReader } from './readBlocks.ts'
import { readRenewedParams } from './readRenewedParams.ts'

export interface ReindexingOptions {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly head: Pick<ChainHead, 'current'>
  readonly store: Pick<Store, 'read'>
  readonly accountLog: Pick<AccountLog, 'transaction'>
  readonly now: () => number
  readonly timeoutBlocks: () => number
}

/** Reads old blocks again where the operator asked for it, and applies them as if they had been undone before. */
export interface Reindexing {
  /** Does a part of what was asked for. Called between two steps of the follower. */
  look(markets: ChainMarkets): Promise<void>
}

/** Minimum interval between two looks, so that following comes first. */
const LOOK_MS = 1_000

/** Maximum number of blocks, and the time, that one look takes: following waits for it. */
const BLOCKS_PER_LOOK = 1_000
const MAX_LOOK_MS = 500

export function createReindexing(options: ReindexingOptions): Reindexing {
  const { chain, client, head, store, accountLog, now, timeoutBlocks } = options
  const readRange = createRangeReader(client, chain)
  let lookedAtMs = now()

  /**
   * Replaces everything that the logs of a block had told by what the node says of it now. Orders, positions and fills
   * keep their ids. Returns true when something was told that had not been known.
   */
  async function applyAgain(found: ChainBlock, markets: ChainMarkets): Promise<boolean> {
    const renewed = await readRenewedParams(client, chain.diamond, [found])
    const { block, transactions } = found
    return accountLog.transaction(
      { chain: chain.slug },
      { block: block.number, isReorg: false },
      async (sql, journal, at) => {
        const followed = await findBlock(sql, chain.slug, block.number)
        if (followed !== undefined && followed.hash !== block.hash) return false
        if (followed === undefined) await insertKeptBlock(sql, chain.slug, block)
        const fillIds = await listFillIds(sql, chain.slug, block.hash)
        const news = createNews(journal, fillIds)
        const scope = createBlockScope(
          { sql, chain: chain.slug, block, markets, renewed, journal: news.journal },
          { fillIds },
        )
        const { orderIds, positionIds } = await deleteLogged(sql, chain.slug, block.hash)
        for (const id of orderIds) scope.touchOrder(id)
        for (const id of positionIds) await scope.touchPosition(id)
        for (const transaction of transactions) await applyTransaction(scope, transaction)
        const { number: headBlock, timestampMs: headMs } = at.head ?? block
        await scope.settle({ nowMs: at.nowMs, headBlock, headMs, timeoutBlocks: timeoutBlocks() })
        return news.isThere()
      },
    )
  }

  async function takePart({ id, nextBlock: from, toBlock }: Reindex, markets: ChainMarkets): Promise<void> {
    const to = Math.min(toBlock, head.current()?.number ?? -1, from + BLOCKS_PER_LOOK - 1)
    let changed = 0
    // A block that is not followed yet needs no second look.
    let nextBlock = from <= to ? from : toBlock + 1
    for (const untilMs = now() + MAX_LOOK_MS; nextBlock <= to && now() <= untilMs;) {
      for await (const blocks of readRange(nextBlock, to)) {
        for (const block of blocks) if (await applyAgain(block, markets)) changed += 1
        nextBlock = (blocks.at(-1)?.block.number ?? to) + 1
        if (now() > untilMs) break
      }
    }
    await accountLog.transaction({ chain: chain.slug }, { block: null, isReorg: false }, (sql) =>
      moveReindex(sql, id, { nextBlock, changed }),
    )
  }

  return {
    async look(markets) {
      if (now() - lookedAtMs < LOOK_MS) return
      lookedAtMs = now()
      const asked = (await listReindexes(store.read)).find(
        (reindex) => reindex.chain === chain.slug && reindex.nextBlock <= reindex.toBlock,
      )
      if (asked === undefined) return
      try {
        await takePart(asked, markets)
      } catch (error) {
        if (!(error instanceof NodeUnavailableError)) throw error
      }
    },
  }
}

/** Passes on what is new, without the fills that were told before, and notes whether there was anything. */
function createNews(
  journal: Journal,
  fillIds: ReadonlyMap<number, OrderId>,
): { readonly journal: Journal; readonly isThere: () => boolean } {
  const told = new Set(fillIds.values())
  let isThere = false
  const noted =
    <Change>(tell: (change: Change) => void) =>
    (change: Change): void => {
      isThere = true
      tell(change)
    }
  const execution = noted(journal.execution)
  return {
    journal: {
      order: noted(journal.order),
      position: noted(journal.position),
      step: journal.step,
      execution(fill) {
        if (!told.has(String(fill.fill.id) as OrderId)) execution(fill)
      },
    },
    isThere: () => isThere,
  }
}
