import type { StreamEvent } from './streamEvents.ts'
import type { Topic } from './topic.ts'

/** What a line keeps subscribed, over all its sockets, for as long as somebody reads it. */
export interface Kept {
  readonly topic: Topic
  /** The event to go on with; `undefined` asks for a snapshot. Asked at each subscription. */
  fromSeq(): number | undefined
  receive(event: StreamEvent): void
  /** No retry heals this. */
  fail(error: unknown): void
}
