import type { LoggedEvent } from '../store/loggedEvent.ts'
import type { LogChannel } from '@bezel/protocol'

// Texts are put together around the stored data, so that its bytes stay what they are.

/** An event as REST lists it. */
export function eventEntry(event: LoggedEvent): string {
  return `{"seq":${event.seq},"channel":"${event.channel}",${rest(event)}`
}

/** An event as the stream tells it. */
export function eventMessage(event: LoggedEvent): string {
  return `{"channel":"${event.channel}","snapshot":false,"seq":${event.seq},${rest(event)}`
}

/** What holds after event `seq`. */
export function snapshotMessage(
  channel: LogChannel,
  { seq, timestampMs, data }: Pick<LoggedEvent, 'seq' | 'timestampMs' | 'data'>,
): string {
  return `{"channel":"${channel}","snapshot":true,"seq":${seq},${rest({ timestampMs, block: null, isReverted: false, data })}`
}

function rest({ timestampMs, block, isReverted, data }: Omit<LoggedEvent, 'seq' | 'channel'>): string {
  return `"timestamp":${timestampMs},"block":${block},"reverted":${isReverted},"data":${data}}`
}
