import type { PositionRecord, PositionState } from './positionModel.ts'
/** What a fold found new. `undefined` is a position that does not exist (now, or not yet). */
export interface PositionChange {
  readonly record: PositionRecord
  readonly before: PositionState | undefined
  readonly after: PositionState | undefined
}
