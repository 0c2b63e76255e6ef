import type { PositionRecord, PositionState } from './positionModel.ts'
/** A position that is open now. */
export interface LivePosition {
  readonly record: PositionRecord
  readonly state: PositionState
}
