import type { LoggedEvent } from '../../store/accountEventStore.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, LogChannel } from '@bezel/protocol'
import type { AccountLog } from '../../journal/accountLog.ts'
import { readPage, type LogPage } from '../../journal/readPage.ts'
import type { TimeSliced } from '../../ground/timeSliced.ts'

/** One channel of a log on one socket that has caught up. */
export interface LogTarget {
  readonly channel: LogChannel
  /** Sequence number up to which it has all events of its channel. */
  readonly after: number
  /** Called before each batch of events. A target whose client may no longer receive them leaves. */
  prepare(): void
  /**
   * Receives an event of its channel as a message; all targets share the same bytes. A target that can't take it
   * leaves.
   */
  take(frame: Buffer, seq: number): void
}

/** Reads one trader's log for all its subscribers. */
export interface LogReader {
  /**
   * Returns true when a target at this sequence number can be given all events that follow. `isAtEnd` tells that it is
   * the end of the log.
   */
  canJoin(after: number, isAtEnd: boolean): boolean
  /** Adds a target, which must be able to join. It receives every later event of its channel once and in order. */
  join(target: LogTarget): void
  leave(target: LogTarget): void
  /**
   * Reads a page for targets that are still catching up. The last page is cached, because the channels of one client
   * read the same pages.
   */
  page(after: number): Promise<LogPage>
  /** Notes that events were appended. */
  wake(): void
}

export interface LogReaderOptions {
  readonly trader: Address
  readonly log: Pick<AccountLog, 'read'>
  readonly turns: TimeSliced
  readonly frameOf: (event: LoggedEvent) => Buffer
  readonly onError: (error: unknown) => void
}

/** The number of events that one read of the store returns for the targets that have caught up. */
const LIVE_PAGE_EVENTS = 200

/**
 * The number of events in a page for targets that catch up. A page is sent before the next one is read, so that many
 * can catch up at once in little memory.
 */
const PAGE_EVENTS = 100

/** Bounds the bytes of both kinds of pages, because some events are long. */
const MAX_PAGE_BYTES = 1024 * 1024

/** Pause before a failed read of the store is repeated. */
const RETRY_MS = 500

export function createLogReader({ trader, log, turns, frameOf, onError }: LogReaderOptions): LogReader {
  const targets = new Set<LogTarget>()
  /** Sequence number up to which all targets have received their events. Has no meaning without targets. */
  let place = 0
  let isReading = false
  let isWoken = false
  let recent: { readonly after: number; readonly page: LogPage } | undefined

  function handOut(events: readonly LoggedEvent[]): void {
    for (const target of targets) target.prepare()
    for (const event of events) {
      let frame: Buffer | undefined
      for (const target of targets) if (isFor(target, event)) target.take((frame ??= frameOf(event)), event.seq)
      place = event.seq
    }
  }

  /** Reads the next events and passes them on. Returns true when there may be more. */
  async function readLive(): Promise<boolean> {
    if (targets.size === 0) return false
    const after = place
    const { events, isLast } = await readPage(log, trader, { after, limit: LIVE_PAGE_EVENTS, maxBytes: MAX_PAGE_BYTES })
    // While the page was read, all targets left and another one joined at another place.
    if (after !== place) return true
    handOut(events)
    return !isLast
  }

  async function readOn(): Promise<void> {
    isReading = true
    while (isWoken) {
      isWoken = false
      try {
        isWoken = (await turns.soon(readLive)) || isWoken
      } catch (error) {
        onError(error)
        await sleep(RETRY_MS, undefined, { ref: false })
        isWoken = true
      }
    }
    isReading = false
  }

  function wake(): void {
    recent = undefined
    isWoken = targets.size > 0
    if (isWoken && !isReading) void readOn()
  }

  return {
    wake,
    canJoin: (after, isAtEnd) => (targets.size === 0 ? isAtEnd : after >= place),
    join(target) {
      if (targets.size === 0) place = target.after
      targets.add(target)
      // Events may have been appended since the target read its last page.
      wake()
    },
    leave: (target) => void targets.delete(target),
    async page(after) {
      if (recent?.after === after) return recent.page
      const page = await readPage(log, trader, { after, limit: PAGE_EVENTS, maxBytes: MAX_PAGE_BYTES })
      // An empty page is not cached, because events may have been appended by now.
      if (page.events.length > 0) recent = { after, page }
      return page
    },
  }
}

function isFor({ channel, after }: LogTarget, event: LoggedEvent): boolean {
  return channel === event.channel && event.seq > after
}
