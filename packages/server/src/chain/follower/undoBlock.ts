import { refoldOrder, type OrderChange } from '../../orders/refoldOrder.ts'
import { refoldPosition, type PositionChange } from '../../positions/refoldPosition.ts'
import { deleteBlock, lastBlock, type FollowedBlock } from '../../store/blockStore.ts'
import { deleteFills } from '../../store/fillStore.ts'
import { deleteOrderEvents } from '../../store/orderEventStore.ts'
import { listTimedOutSince } from '../../store/orderStore.ts'
import { deletePositionEvents } from '../../store/positionStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { ApplyOptions, BlockChanges } from './applyBlock.ts'

/** Takes the last block back, in the store's transaction: what it said is forgotten, and what it touched, or timed out by being there, is folded without it. */
export async function undoBlock(
  sql: Sql,
  { number, hash }: FollowedBlock,
  { chain, nowMs, timeoutBlocks }: Pick<ApplyOptions, 'chain' | 'nowMs' | 'timeoutBlocks'>,
): Promise<BlockChanges> {
  const timedOut = await listTimedOutSince(sql, chain, number - 1 - timeoutBlocks)
  const orderIds = new Set([...(await deleteOrderEvents(sql, chain, hash)), ...timedOut])
  const positionIds = await deletePositionEvents(sql, chain, hash)
  await deleteFills(sql, chain, hash)
  await deleteBlock(sql, chain, number)

  const positions: PositionChange[] = []
  for (const id of positionIds) {
    const change = await refoldPosition(sql, id)
    if (change !== undefined) positions.push(change)
  }
  const clock = { nowMs, headBlock: number - 1, timeoutBlocks }
  const orders: OrderChange[] = []
  for (const id of orderIds) {
    const change = await refoldOrder(sql, id, clock)
    if (change !== undefined) orders.push(change)
  }
  return { block: await lastBlock(sql, chain), orders, positions, isReorg: true }
}
