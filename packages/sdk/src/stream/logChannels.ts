import type { LogChannel, StreamChannel } from '@bezel/protocol/wire'

/** The channels of a trader's own events, which are one log. */
export const LOG_CHANNELS = ['orders', 'fills', 'positions', 'account'] as const satisfies readonly LogChannel[]

/** Whether it needs credentials, and resumes. */
export function isLogChannel(channel: StreamChannel): channel is LogChannel {
  return (LOG_CHANNELS as readonly StreamChannel[]).includes(channel)
}
