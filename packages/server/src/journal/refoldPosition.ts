import type { PositionChange } from '../trading/positions/positionChange.ts'
import type { OrderId } from '@bezel/protocol'
import { isDeepStrictEqual } from 'node:util'
import type { Journal } from './accountLog.ts'
import { findPosition, positionEventsOf, savePositionState, type StoredPosition } from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import { foldPosition } from '../trading/positions/foldPosition.ts'
import type { PositionState } from '../trading/positions/positionModel.ts'

/** Computes a position's state anew from everything the chain said about it, and keeps it. `undefined` when nothing changed; a change is told to the journal. */
export async function refoldPosition(
  sql: Sql,
  id: OrderId,
  journal: Pick<Journal, 'position'>,
): Promise<PositionChange | undefined> {
  const stored = await findPosition(sql, id)
  if (stored === undefined) throw new Error(`position ${id} is not in the store`)
  return keepPosition(sql, stored, foldPosition(await positionEventsOf(sql, id)), journal)
}

/** Keeps what a position was folded to, for whoever has its events at hand. `undefined` when nothing changed. */
export async function keepPosition(
  sql: Sql,
  { record, state: before }: StoredPosition,
  after: PositionState | undefined,
  journal: Pick<Journal, 'position'>,
): Promise<PositionChange | undefined> {
  if (isDeepStrictEqual(before, after)) return undefined
  await savePositionState(sql, record.id, after)
  const change = { record, before, after }
  journal.position(change)
  return change
}
