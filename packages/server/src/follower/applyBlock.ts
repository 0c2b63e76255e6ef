import type { ChainSlug } from '@bezel/protocol'
import type { Journal } from '../journal/accountLog.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { forgetBlocksBelow, insertBlock } from '../store/blockStore.ts'
import { listDueOrders } from '../store/orderStore.ts'
import type { Sql } from '../store/sql.ts'
import type { FoldClock } from '../trading/orders/orderModel.ts'
import { applyTransaction } from './applyTransaction.ts'
import { createBlockScope } from './blockScope.ts'
import type { ChainBlock, Receipt } from '../chain/chainBlock.ts'
import { settleReported } from './settleReported.ts'

export interface ApplyOptions {
  readonly chain: ChainSlug
  readonly markets: ChainMarkets
  readonly finalityDepth: number
  readonly nowMs: number
  readonly timeoutBlocks: number
}

/** So many orders are moved on by the clock with one block; the rest with the next. */
const MAX_DUE_ORDERS = 500

/**
 * Applies blocks in the store's transaction: all of them, the cursor included, or nothing. What they touch is folded once, as of the last one.
 */
export async function applyBlocks(
  sql: Sql,
  [first, ...others]: readonly [ChainBlock, ...ChainBlock[]],
  receipts: readonly Receipt[],
  options: ApplyOptions,
  journal: Journal,
): Promise<void> {
  const { chain, markets, finalityDepth, nowMs, timeoutBlocks } = options
  const scope = createBlockScope({ sql, chain, block: first.block, markets, journal })
  for (const { block, transactions } of [first, ...others]) {
    scope.enter(block)
    for (const transaction of transactions) await applyTransaction(scope, transaction)
    await insertBlock(sql, chain, block)
  }
  for (const receipt of receipts) await settleReported(scope, receipt)
  const { block } = scope

  const clock: FoldClock = { nowMs, headBlock: block.number, timeoutBlocks }
  const due = await listDueOrders(sql, chain, { nowMs, headBlock: block.number, limit: MAX_DUE_ORDERS })
  for (const id of due) scope.touchOrder(id)
  await scope.settle(clock)
  await forgetBlocksBelow(sql, chain, block.number - finalityDepth)
}
