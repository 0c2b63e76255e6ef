import type { Journal } from '../journal/accountLog.ts'
import { refoldOrder } from '../journal/refoldOrder.ts'
import { refoldPosition } from '../journal/refoldPosition.ts'
import { deleteBlock, type FollowedBlock } from '../store/blockStore.ts'
import { deleteFills } from '../store/fillStore.ts'
import { deleteOrderEvents } from '../store/orderEventStore.ts'
import { listTimedOutSince } from '../store/orderStore.ts'
import { deletePositionEvents } from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import type { ApplyOptions } from './applyBlock.ts'

/** Takes the last block back, in the store's transaction: what it said is forgotten, and what it touched, or timed out by being there, is folded without it. */
export async function undoBlock(
  sql: Sql,
  { number, hash }: FollowedBlock,
  { chain, nowMs, timeoutBlocks }: Pick<ApplyOptions, 'chain' | 'nowMs' | 'timeoutBlocks'>,
  journal: Journal,
): Promise<void> {
  const timedOut = await listTimedOutSince(sql, chain, number - 1 - timeoutBlocks)
  const orderIds = new Set([...(await deleteOrderEvents(sql, chain, hash)), ...timedOut])
  const positionIds = await deletePositionEvents(sql, chain, hash)
  await deleteFills(sql, chain, hash)
  await deleteBlock(sql, chain, number)

  for (const id of positionIds) await refoldPosition(sql, id, journal)
  const clock = { nowMs, headBlock: number - 1, timeoutBlocks }
  for (const id of orderIds) await refoldOrder(sql, id, clock, journal)
}
