/** Everything that is bounded about sockets. */
export interface StreamBounds {
  /** Of the whole process. One more is refused with 503. */
  readonly maxSockets: number
  /** Of one IP (for IPv6: one network). One more is refused with 429. */
  readonly maxSocketsPerIp: number
  readonly maxSubscriptions: number
  readonly maxMessageBytes: number
  readonly maxMessagesPerSecond: number
  /** From a message that subscribes to its answer, whatever it or an earlier one has to wait for. */
  readonly maxWaitMs: number
  /** Client messages that may wait while an earlier one is worked on: more than come at the allowed rate while one waits. */
  readonly maxWaitingMessages: number
  /** Between two pings of the service. */
  readonly heartbeatMs: number
  /** Without any word of the client. */
  readonly idleMs: number
  /** From our close frame to the end of the connection, whatever the other end does. */
  readonly closeWaitMs: number
  /** While bytes wait and none of them leaves. */
  readonly stuckMs: number
  /** Between two looks at all sockets: how exact the times above are. */
  readonly sweepMs: number
  /** Beyond this a latest-value channel writes nothing more and sends a snapshot later; a log waits. */
  readonly maxQueuedLatestBytes: number
  /** Beyond this a socket is cut: what must not be left out does not wait for it in memory without end. */
  readonly maxQueuedLogBytes: number
}

export const DEFAULT_BOUNDS: StreamBounds = Object.freeze({
  maxSockets: 10_000,
  maxSocketsPerIp: 50,
  maxSubscriptions: 200,
  maxMessageBytes: 4_096,
  maxMessagesPerSecond: 20,
  maxWaitMs: 15_000,
  // An authentication that is begun in time may ask a node, for 5 s more.
  maxWaitingMessages: 500,
  heartbeatMs: 15_000,
  idleMs: 45_000,
  closeWaitMs: 5_000,
  stuckMs: 60_000,
  sweepMs: 1_000,
  maxQueuedLatestBytes: 256 * 1024,
  maxQueuedLogBytes: 1024 * 1024,
})

/** A message that comes in more parts than this is no message of a client that means well. */
export const MAX_FRAGMENTS = 64
export const MAX_BUFFERED_CHUNKS = 256

/** Who has not taken by then what waited for it is cut by a log: it can't wait for ever, and nothing of it can be left out. */
export const MAX_BEHIND_MS = 30_000
