import assert from 'node:assert/strict'
import type { Address, ChainSlug } from '@bezel/protocol'
import { listLiveOrders } from '../../store/orderStore.ts'
import { listOpenPositions } from '../../store/positionStore.ts'
import { toExactJson, type Store } from '../../store/sql.ts'

/**
 * Fails unless two stores have the same open positions, resting orders and waiting requests of these traders, but for
 * what the chain does not keep: ids, times, transactions, how a position was opened, and the size that a resting order
 * asked for before it was changed. Both followers must stand still at the same block.
 */
export async function expectSameOpen(
  ours: Store,
  reference: Store,
  chain: ChainSlug,
  traders: readonly Address[],
): Promise<void> {
  assert.deepEqual(await describeOpen(ours, chain, traders), await describeOpen(reference, chain, traders))
}

async function describeOpen({ read }: Store, chain: ChainSlug, traders: readonly Address[]): Promise<unknown> {
  const positions = (await listOpenPositions(read, chain)).map(({ record, state }) => {
    const { trade, info, liquidationParams, feesData, oldBorrowing, maxClosingSlippageP, pendingUpdate } = state!
    const waiting = pendingUpdate && { ...pendingUpdate, attemptId: null, txHash: null, createdAtMs: 0 }
    const { trader } = record
    return { trader, trade, info, liquidationParams, feesData, oldBorrowing, maxClosingSlippageP, waiting }
  })
  const orders: unknown[] = []
  for (const trader of traders) {
    for (const { record, state } of await listLiveOrders(read, chain, trader)) {
      const { kind, type, side, market, leverage, collateral, reduceOnly, legs } = record.request
      const { status, price, sl, tp, slippage, tradeIndex, unanswered, dueBlock } = state!
      const closed = legs.map(({ tradeIndex: index }) => index)
      const asked = { kind, type, side, market, leverage, collateral, reduceOnly, closed }
      orders.push({ trader, ...asked, status, price, sl, tp, slippage, tradeIndex, unanswered, dueBlock })
    }
  }
  return sorted([...positions, ...orders])
}

function sorted(open: readonly unknown[]): unknown {
  return open.map((one) => JSON.parse(toExactJson(one)) as unknown).toSorted(byText)
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}
