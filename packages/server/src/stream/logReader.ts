import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, LogChannel } from '@bezel/protocol'
import type { AccountLog, LoggedEvent } from '../accounts/log/accountLog.ts'
import type { Turns } from './turns.ts'

/** One channel of a log on one socket, once it has caught up. */
export interface LogTarget {
  readonly channel: LogChannel
  /** It has seen all of its events up to this one. */
  readonly after: number
  /** Before a round of events. A target that must not have them leaves. */
  prepare(): void
  /** An event of its channel as a message; the same bytes go to all targets. */
  take(frame: Buffer): void
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

export interface LogPage {
  readonly events: readonly LoggedEvent[]
  /** There was no more when it was read. */
  readonly isLast: boolean
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
      for (const target of targets) if (isFor(target, event)) target.take((frame ??= frameOf(event)))
      place = event.seq
    }
  }

  /** Whether there may be more. */
  async function readPage(): Promise<boolean> {
    const after = place
    const events = targets.size === 0 ? [] : await log.read(trader, { after, limit: LIVE_PAGE_EVENTS })
    // All left, and somebody joined elsewhere, while it was read.
    if (after !== place) return true
    handOut(events)
    return events.length === LIVE_PAGE_EVENTS
  }

  async function readOn(): Promise<void> {
    isReading = true
    while (isWoken) {
      isWoken = false
      try {
        isWoken = (await turns.soon(readPage)) || isWoken
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
      const events = await log.read(trader, { after, limit: PAGE_EVENTS })
      const page = { events, isLast: events.length < PAGE_EVENTS }
      // That there is nothing may be over by now.
      if (events.length > 0) recent = { after, page }
      return page
    },
  }
}

function isFor({ channel, after }: LogTarget, event: LoggedEvent): boolean {
  return channel === event.channel && event.seq > after
}
