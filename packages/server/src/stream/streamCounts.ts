import { STREAM_CHANNELS, type StreamChannel } from '@bezel/protocol'

/** Counters of one channel. */
export interface ChannelCounts {
  /** The number of subscriptions on all sockets now. */
  subscriptions: number
  /** The number of data messages written, one for each socket. */
  sent: number
  /** The number of snapshots sent, in place of deltas, to clients that were too far behind. */
  snapshots: number
}

/**
 * Counters of the stream. Plain numbers, because they change with every message and are read at every scrape of the
 * metrics.
 */
export interface StreamCounts {
  /** The number of open sockets. */
  sockets: number
  /** The number of closed sockets by close code. Codes without a meaning here count as `other`. */
  readonly closed: Map<string, number>
  readonly channels: Readonly<Record<StreamChannel, ChannelCounts>>
}

export function createStreamCounts(): StreamCounts {
  const channels = Object.fromEntries(
    STREAM_CHANNELS.map((channel) => [channel, { subscriptions: 0, sent: 0, snapshots: 0 }]),
  ) as Record<StreamChannel, ChannelCounts>
  return { sockets: 0, closed: new Map(), channels }
}
