import { createBreaks } from '../ground/breaks.ts'
import type { Journal } from '../journal/accountLog.ts'
import { refoldOrder, refoldPosition } from '../journal/refold.ts'
import { deleteBlock, readLastBlock, type FollowedBlock } from '../store/blockStore.ts'
import { deleteFills } from '../store/fillStore.ts'
import { deleteOrderEvents } from '../store/orderEventStore.ts'
import { listTimedOutSince } from '../store/orderStore.ts'
import { deletePositionEvents, listEarlyUpdates } from '../store/positionStore.ts'
import { deleteSnapshotAt } from '../store/snapshotStore.ts'
import type { Sql } from '../store/sql.ts'
import type { ApplyOptions } from './applyBlocks.ts'

/**
 * Undoes the last block inside the caller's transaction. Its events and fills are deleted; the orders and positions it
 * touched, and those that timed out because of its number, are folded again without it. A snapshot that was taken at it
 * is forgotten with everything that it found.
 */
export async function undoBlock(
  sql: Sql,
  { number, hash, timestampMs: headMs }: FollowedBlock,
  { chain, nowMs, timeoutBlocks }: Pick<ApplyOptions, 'chain' | 'nowMs' | 'timeoutBlocks'>,
  journal: Journal,
): Promise<void> {
  await deleteBlock(sql, chain, { number, hash })
  // Blocks without logs are not all stored, so the one before may have any lower number.
  const { number: headBlock } = (await readLastBlock(sql, chain)) ?? { number: number - 1 }
  const timedOut = await listTimedOutSince(sql, chain, headBlock - timeoutBlocks)
  const orderIds = new Set([...(await deleteOrderEvents(sql, chain, hash)), ...timedOut])
  const early = await listEarlyUpdates(sql, chain, headBlock)
  const positionIds = new Set([...(await deletePositionEvents(sql, chain, hash)), ...early])
  await deleteFills(sql, chain, hash)
  await deleteSnapshotAt(sql, chain, hash)

  const clock = { nowMs, headBlock, headMs, timeoutBlocks }
  const takeBreak = createBreaks()
  for (const id of positionIds) {
    await refoldPosition(sql, id, clock, journal)
    await takeBreak()
  }
  for (const id of orderIds) {
    await refoldOrder(sql, id, clock, journal)
    await takeBreak()
  }
}
