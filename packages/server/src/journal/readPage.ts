import type { LoggedEvent } from '../store/accountEventStore.ts'
import type { Address, LogChannel } from '@bezel/protocol'
import type { AccountLog } from './accountLog.ts'

/** A part of a log, bounded in bytes so that it fits into memory. */
export interface LogPage {
  /** Consecutive events, oldest first. */
  readonly events: readonly LoggedEvent[]
  /** True when the log had no more events at the time of reading. */
  readonly isLast: boolean
}

interface PageBounds {
  readonly after: number
  readonly limit: number
  /** Size of the event data at which the page ends; the event that reaches it is included. */
  readonly maxBytes: number
}

/** Number of events in the first read, when their size in this log is not known yet. */
const FIRST_EVENTS = 25

/**
 * Reads a page; never empty when there are events. Each further read asks for as many events as should fit, judged by
 * the average size so far, so mostly two reads suffice.
 */
export async function readPage(
  log: Pick<AccountLog, 'read'>,
  trader: Address,
  { after, limit, maxBytes }: PageBounds,
): Promise<LogPage> {
  const events: LoggedEvent[] = []
  let bytes = 0
  for (let wanted = FIRST_EVENTS; events.length < limit && bytes < maxBytes;) {
    const count = Math.min(wanted, limit - events.length)
    const more = await log.read(trader, { after: events.at(-1)?.seq ?? after, limit: count })
    for (const event of more) {
      // The events between were deleted meanwhile.
      const isHole = events.length > 0 && event.seq !== events.at(-1)!.seq + 1
      if (isHole || bytes >= maxBytes) return { events, isLast: false }
      events.push(event)
      bytes += Buffer.byteLength(event.data)
    }
    if (more.length < count) return { events, isLast: true }
    wanted = Math.max(1, Math.floor((maxBytes - bytes) / (bytes / events.length)))
  }
  return { events, isLast: false }
}

// JSON texts are concatenated around the stored data, so that its bytes stay unchanged.

/** Formats an event as REST lists it. */
export function eventEntry(event: LoggedEvent): string {
  return `{"seq":${event.seq},"channel":"${event.channel}",${rest(event)}`
}

/** Formats an event as the stream sends it. */
export function eventMessage(event: LoggedEvent): string {
  return `{"channel":"${event.channel}","snapshot":false,"seq":${event.seq},${rest(event)}`
}

/** Formats a snapshot: the state after event `seq`. */
export function snapshotMessage(
  channel: LogChannel,
  { seq, timestampMs, data }: Pick<LoggedEvent, 'seq' | 'timestampMs' | 'data'>,
): string {
  return `{"channel":"${channel}","snapshot":true,"seq":${seq},${rest({ timestampMs, block: null, isReverted: false, data })}`
}

function rest({ timestampMs, block, isReverted, data }: Omit<LoggedEvent, 'seq' | 'channel'>): string {
  return `"timestamp":${timestampMs},"block":${block},"reverted":${isReverted},"data":${data}}`
}
