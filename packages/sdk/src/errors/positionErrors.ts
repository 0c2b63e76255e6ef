import type { PendingUpdate, Position } from '@bezel/protocol/wire'
import { BezelError } from './bezelError.ts'

/**
 * The error for a change of a position that ended without effect: the contracts refused it, somebody reclaimed it, or
 * the position was closed meanwhile.
 */
export class PositionUpdateRefusedError extends BezelError {
  override readonly name = 'PositionUpdateRefusedError'
  declare readonly code: 'POSITION_UPDATE_REFUSED'
  /** Id of the position. */
  readonly positionId: string
  /** The position as it is now; `undefined` when it is closed. */
  readonly position: Position | undefined
  /** The reason in words, as the service's notice tells it; null when there is none. */
  readonly reason: string | null

  constructor(positionId: string, position: Position | undefined, reason: string | null) {
    const how = position === undefined ? 'The position is closed.' : 'The position stays as it was.'
    super('POSITION_UPDATE_REFUSED', `The change of position ${positionId} had no effect. ${reason ?? how}`)
    this.positionId = positionId
    this.position = position
    this.reason = reason
  }
}

/**
 * The error for a change of a position that the oracle has not answered in time. What it took from the wallet is locked
 * until it is reclaimed.
 */
export class PositionUpdateTimedOutError extends BezelError {
  override readonly name = 'PositionUpdateTimedOutError'
  declare readonly code: 'POSITION_UPDATE_TIMED_OUT'
  /** The position as it is now. */
  readonly position: Position
  /** The change that timed out. */
  readonly pendingUpdate: PendingUpdate

  constructor(position: Position, pendingUpdate: PendingUpdate) {
    const message = `The oracle did not answer the change of position ${position.id} in time. Reclaim it (positions.cancelUpdate), or close the position or change it again, which reclaims it too. It may still be answered until then.`
    super('POSITION_UPDATE_TIMED_OUT', message)
    this.position = position
    this.pendingUpdate = pendingUpdate
  }
}

/** The error for a wait that ended before the change of a position did. The change goes on by itself. */
export class PositionUpdateWaitError extends BezelError {
  override readonly name = 'PositionUpdateWaitError'
  declare readonly code: 'POSITION_UPDATE_WAIT'
  /** Id of the position, whose change goes on. */
  readonly positionId: string

  constructor(positionId: string, timeoutMs: number, cause?: unknown) {
    const message = `After ${timeoutMs / 1000} s the change of position ${positionId} has not ended. It goes on without you: look at the position later; do not send it again.`
    super('POSITION_UPDATE_WAIT', message, { cause })
    this.positionId = positionId
  }
}
