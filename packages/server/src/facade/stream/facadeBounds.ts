import { MAX_BODY_BYTES } from '../../access/maxBodyBytes.ts'
import { DEFAULT_BOUNDS, type StreamBounds } from '../../stream/bounds.ts'

/** Everything that is bounded about the sockets of the facade. */
export interface FacadeBounds extends StreamBounds {
  /** Of a message that subscribes: it is kept while others wait before it, and its words for as long as it is in force. */
  readonly maxSubscriptionBytes: number
  /** Different users that one socket listens to. */
  readonly maxUsers: number
  /** Posts of one socket that are worked on. */
  readonly maxPosts: number
  /** Messages at once, before the number in a second counts: after a break a client subscribes again to all it had. */
  readonly maxMessageBurst: number
}

export const FACADE_BOUNDS: FacadeBounds = Object.freeze({
  ...DEFAULT_BOUNDS,
  // A post is what else would be the body of a request.
  maxMessageBytes: MAX_BODY_BYTES,
  maxSubscriptionBytes: DEFAULT_BOUNDS.maxMessageBytes,
  heartbeatMs: 30_000,
  // The slowest client says something every 50 s.
  idleMs: 75_000,
  maxUsers: 10,
  maxPosts: 50,
  maxMessageBurst: DEFAULT_BOUNDS.maxSubscriptions + 50,
})
