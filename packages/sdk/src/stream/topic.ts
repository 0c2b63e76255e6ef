import type { CandleInterval, StreamChannel } from '@bezel/protocol/wire'

/** A subscription as messages name it. */
export interface Topic {
  readonly channel: StreamChannel
  readonly market?: string
  readonly interval?: CandleInterval
}

/** A socket has one subscription of each key. */
export function topicKey({ channel, market, interval }: Topic): string {
  return `${channel} ${market ?? ''} ${interval ?? ''}`
}
