import type { CandleInterval, StreamChannel } from '@bezel/protocol/wire'
import type { StreamEvent } from './streamEvents.ts'

/** A subscription, in the form that messages use. */
export interface StreamTopic<Channel extends StreamChannel = StreamChannel> {
  readonly channel: Channel
  readonly market?: string
  readonly interval?: CandleInterval
}

/** Returns the key of a topic. A socket has at most one subscription of each key. */
export function topicKey({ channel, market, interval }: StreamTopic): string {
  return `${channel} ${market ?? ''} ${interval ?? ''}`
}

/** A subscription that a line keeps alive over all its sockets, as long as somebody reads it. */
export interface Kept {
  readonly topic: StreamTopic
  /** Returns the number of the next event wanted; `undefined` asks for a snapshot. Called at each subscription. */
  fromSeq(): number | undefined
  receive(event: StreamEvent): void
  /** Ends the subscription with an error that no retry heals. */
  fail(error: unknown): void
}
