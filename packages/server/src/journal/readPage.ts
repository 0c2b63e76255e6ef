import type { LoggedEvent } from '../store/loggedEvent.ts'
import type { Address } from '@bezel/protocol'
import type { AccountLog } from './accountLog.ts'

/** A stretch of a log that fits into memory, whatever its events weigh. */
export interface LogPage {
  /** Without a hole, oldest first. */
  readonly events: readonly LoggedEvent[]
  /** There was no more when it was read. */
  readonly isLast: boolean
}

export interface PageBounds {
  readonly after: number
  readonly limit: number
  /** The page ends with the event that reaches it. */
  readonly maxBytes: number
}

/** Read before it is known what events of this log weigh. */
const FIRST_EVENTS = 25

/** Never empty when there are events. Reads on only as far as what was read lets expect that the rest fits, so mostly twice. */
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
      // Those between were forgotten meanwhile.
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
