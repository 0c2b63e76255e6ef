import type { LoggedEvent } from '../../store/loggedEvent.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, LogChannel } from '@bezel/protocol'
import type { AccountLog } from '../../journal/accountLog.ts'
import { readPage, type LogPage } from '../../journal/readPage.ts'
import type { Turns } from '../../ground/turns.ts'

/** One channel of a log on one socket, once it has caught up. */
export interface LogTarget {
  readonly channel: LogChannel
  /** It has seen all of its events up to this one. */
  readonly after: number
  /** Before a round of events. A target that must not have them leaves. */
  prepare(): void
  /** An event of its channel as a message; the same bytes go to all targets. A target that can't take it leaves. */
  take(frame: Buffer, seq: number): void
}

/** Reads one trader's log on, for everybody who listens to it. */
export interface LogReader {
  /** Whether a target at this place, which may or may not be the end of the log, can be handed all that follows. */
  canJoin(after: number, isAtEnd: boolean): boolean
  /** Only when it can join. It is handed every later event of its channel, once and in order. */
  join(target: LogTarget): void
  leave(target: LogTarget): void
  /** A page for those who are still catching up. What the last one of them read is at hand: a client's channels go through the same pages. */
  page(after: number): Promise<LogPage>
  /** Something was appended. */
  wake(): void
}

export interface LogReaderOptions {
  readonly trader: Address
  readonly log: Pick<AccountLog, 'read'>
  readonly turns: Turns
  readonly frameOf: (event: LoggedEvent) => Buffer
  readonly onError: (error: unknown) => void
}

/** Of the store's work in one turn, for those who are live. */
const LIVE_PAGE_EVENTS = 200

/** For those who catch up: a page is sent before the next one is read, so that many can do so at once in little memory. */
const PAGE_EVENTS = 100

/** Of both: some events are long. */
const MAX_PAGE_BYTES = 1024 * 1024

/** A store that can't be read is asked again this much later. */
const RETRY_MS = 500

export function createLogReader({ trader, log, turns, frameOf, onError }: LogReaderOptions): LogReader {
  const targets = new Set<LogTarget>()
  /** Everything up to it was handed out. Without targets it means nothing. */
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

  /** Whether there may be more. */
  async function readLive(): Promise<boolean> {
    if (targets.size === 0) return false
    const after = place
    const { events, isLast } = await readPage(log, trader, { after, limit: LIVE_PAGE_EVENTS, maxBytes: MAX_PAGE_BYTES })
    // All left, and somebody joined elsewhere, while it was read.
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
      // It may have been appended to since the target looked.
      wake()
    },
    leave: (target) => void targets.delete(target),
    async page(after) {
      if (recent?.after === after) return recent.page
      const page = await readPage(log, trader, { after, limit: PAGE_EVENTS, maxBytes: MAX_PAGE_BYTES })
      // That there is nothing may be over by now.
      if (page.events.length > 0) recent = { after, page }
      return page
    },
  }
}

function isFor({ channel, after }: LogTarget, event: LoggedEvent): boolean {
  return channel === event.channel && event.seq > after
}
