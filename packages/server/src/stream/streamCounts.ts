import { STREAM_CHANNELS, type StreamChannel } from '@bezel/protocol'

/** What has happened on one channel. */
export interface ChannelCounts {
  /** On all sockets now. */
  subscriptions: number
  /** Data messages written, one for each socket. */
  sent: number
  /** Snapshots that readers who were too far behind got instead of deltas. */
  snapshots: number
}

/** Plain numbers, counted on every message and read at every scrape. */
export interface StreamCounts {
  /** Open now. */
  sockets: number
  /** Ended, by close code; codes that only the client gives a meaning are `other`. */
  readonly closed: Map<string, number>
  readonly channels: Readonly<Record<StreamChannel, ChannelCounts>>
}

export function createStreamCounts(): StreamCounts {
  const channels = Object.fromEntries(
    STREAM_CHANNELS.map((channel) => [channel, { subscriptions: 0, sent: 0, snapshots: 0 }]),
  ) as Record<StreamChannel, ChannelCounts>
  return { sockets: 0, closed: new Map(), channels }
}
