import { setTimeout as sleep } from 'node:timers/promises'
import type { Address, LogChannel } from '@bezel/protocol'
import type { AccountLog, LoggedEvent } from '../accounts/log/accountLog.ts'
import type { Connection } from './connection.ts'
import type { Turns } from './turns.ts'

/** One channel of a log on one socket, once it has caught up. */
export interface LogTarget {
  readonly channel: LogChannel
  /** It has seen all of its events up to this one. */
  readonly after: number
  /** Before a round of events. A target that must not have them leaves. */
  prepare(): void
  take(message: LogMessage): void
}

/** An event on its way to all who listen: its text is made once. */
export interface LogMessage {
  sendTo(connection: Connection): void
}

/** Reads one trader's log on, for everybody who listens to it. */
export interface LogReader {
  /** Whether a target at this place, which may or may not be the end of the log, can be handed all that follows. */
  canJoin(after: number, isAtEnd: boolean): boolean
  /** Only when it can join. It is handed every later event of its channel, once and in order. */
  join(target: LogTarget): void
  leave(target: LogTarget): void
  /** Something was appended. */
  wake(): void
}

export interface LogReaderOptions {
  readonly trader: Address
  readonly log: Pick<AccountLog, 'read'>
  readonly turns: Turns
  readonly messageOf: (event: LoggedEvent) => LogMessage
  readonly onError: (error: unknown) => void
}

/** Of the store's work in one turn. */
const PAGE_EVENTS = 200

/** A store that can't be read is asked again this much later. */
const RETRY_MS = 500

export function createLogReader({ trader, log, turns, messageOf, onError }: LogReaderOptions): LogReader {
  const targets = new Set<LogTarget>()
  /** Everything up to it was handed out. Without targets it means nothing. */
  let place = 0
  let isReading = false
  let isWoken = false

  function handOut(events: readonly LoggedEvent[]): void {
    for (const target of targets) target.prepare()
    for (const event of events) {
      const message = messageOf(event)
      for (const target of targets) if (isFor(target, event)) target.take(message)
      place = event.seq
    }
  }

  /** Whether there may be more. */
  async function readPage(): Promise<boolean> {
    const after = place
    const events = targets.size === 0 ? [] : await log.read(trader, { after, limit: PAGE_EVENTS })
    // All left, and somebody joined elsewhere, while it was read.
    if (after !== place) return true
    handOut(events)
    return events.length === PAGE_EVENTS
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
  }
}

function isFor({ channel, after }: LogTarget, event: LoggedEvent): boolean {
  return channel === event.channel && event.seq > after
}
