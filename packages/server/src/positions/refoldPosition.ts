import type { OrderId } from '@bezel/protocol'
import { isDeepStrictEqual } from 'node:util'
import { findPosition, positionEventsOf, savePositionState } from '../store/positionStore.ts'
import type { Sql } from '../store/sql.ts'
import { foldPosition } from '../trading/positions/foldPosition.ts'
import type { PositionRecord, PositionState } from '../trading/positions/positionModel.ts'

/** What a fold found new. `undefined` is a position that does not exist (now, or not yet). */
export interface PositionChange {
  readonly record: PositionRecord
  readonly before: PositionState | undefined
  readonly after: PositionState | undefined
}

/** Computes a position's state anew from everything the chain said about it, and keeps it. `undefined` when nothing changed. */
export async function refoldPosition(sql: Sql, id: OrderId): Promise<PositionChange | undefined> {
  const stored = await findPosition(sql, id)
  if (stored === undefined) throw new Error(`position ${id} is not in the store`)
  const { record, state: before } = stored
  const after = foldPosition(await positionEventsOf(sql, id))
  if (isDeepStrictEqual(before, after)) return undefined
  await savePositionState(sql, id, after)
  return { record, before, after }
}
