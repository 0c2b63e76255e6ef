/** Limits on sockets. */
export interface StreamBounds {
  /** The greatest number of sockets of the whole process. Any further one is refused with 503. */
  readonly maxSockets: number
  /** The greatest number of sockets of one IP (for IPv6: of one network). Any further one is refused with 429. */
  readonly maxSocketsPerIp: number
  readonly maxSubscriptions: number
  readonly maxMessageBytes: number
  readonly maxMessagesPerSecond: number
  /** The longest time from a subscribe message to its answer, whatever it or an earlier message has to wait for. */
  readonly maxWaitMs: number
  /**
   * The number of client messages that may wait behind an earlier one: more than can arrive at the allowed rate while
   * one message waits.
   */
  readonly maxWaitingMessages: number
  /** Pause between two pings of the service. */
  readonly heartbeatMs: number
  /** Time without any message from the client after which its socket is closed. */
  readonly idleMs: number
  /** The longest time from the service's close frame to the end of the connection, whatever the client does. */
  readonly closeWaitMs: number
  /** Time after which a socket is ended when bytes wait and none of them is taken. */
  readonly stuckMs: number
  /** Pause between two checks of all sockets, which is the precision of the times above. */
  readonly sweepMs: number
  /**
   * The number of queued bytes beyond which a latest-value channel writes nothing, and sends a snapshot later, and a
   * log channel waits.
   */
  readonly maxQueuedLatestBytes: number
  /**
   * The number of queued bytes beyond which a socket is cut. Messages that must not be dropped can't queue in memory
   * without limit.
   */
  readonly maxQueuedLogBytes: number
}

export const DEFAULT_BOUNDS: StreamBounds = Object.freeze({
  maxSockets: 10_000,
  maxSocketsPerIp: 50,
  maxSubscriptions: 200,
  maxMessageBytes: 4_096,
  maxMessagesPerSecond: 20,
  maxWaitMs: 15_000,
  // At 20 messages a second, 400 arrive while one waits: 15 s, and 5 s more for an authentication that asks a node.
  maxWaitingMessages: 500,
  heartbeatMs: 15_000,
  idleMs: 45_000,
  closeWaitMs: 5_000,
  stuckMs: 60_000,
  sweepMs: 1_000,
  maxQueuedLatestBytes: 256 * 1024,
  maxQueuedLogBytes: 1024 * 1024,
})

/** The greatest number of fragments of a message. A well-behaved client needs fewer. */
export const MAX_FRAGMENTS = 64
export const MAX_BUFFERED_CHUNKS = 256

/**
 * The longest time that a log channel waits for a slow client to take its queued bytes. Then the socket is cut, because
 * no event may be left out.
 */
export const MAX_LOG_BEHIND_MS = 30_000
