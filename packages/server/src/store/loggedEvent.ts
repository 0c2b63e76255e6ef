import type { LogChannel } from '@bezel/protocol'
/** An event of an account, as it is kept. */
export interface LoggedEvent {
  readonly seq: number
  readonly channel: LogChannel
  readonly timestampMs: number
  readonly block: number | null
  readonly isReverted: boolean
  /** JSON. Its bytes are the same live, replayed and over REST, so it is never parsed and written again. */
  readonly data: string
}
