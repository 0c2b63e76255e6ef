import type { Address, LogChannel } from '@bezel/protocol'
import type { AccountLog, LoggedEvent } from '../accounts/log/accountLog.ts'
import type { Connection } from './connection.ts'
import type { LogMessage } from './logReader.ts'

/** What a socket has missed of one channel, page by page. */
export interface LogReplay {
  /** Everything up to this event is sent. */
  readonly after: number
  /** Sends what follows, as far as the client takes it. Whether it has come to the end of the log. */
  sendPage(): Promise<boolean>
}

export interface LogReplayOptions {
  readonly trader: Address
  readonly channel: LogChannel
  /** The last event that the client has, or does not want. */
  readonly after: number
  readonly log: Pick<AccountLog, 'read'>
  readonly messageOf: (event: LoggedEvent) => LogMessage
  /** Asked before each page: whether the client is still there and may have it. */
  readonly mayListen: () => boolean
  /** What should follow is no longer kept. */
  readonly onGone: () => void
}

/** A page is sent before the next one is read, so that many can catch up at once in little memory. */
const PAGE_EVENTS = 50

/** A page can be empty while another socket is already further; several in a row mean that what should follow is no longer kept. */
const MAX_EMPTY_PAGES = 3

export function createLogReplay(connection: Connection, options: LogReplayOptions): LogReplay {
  const { trader, channel, log, messageOf, mayListen } = options
  let after = options.after
  let emptyPages = 0

  function isGone(events: readonly LoggedEvent[]): boolean {
    emptyPages = events.length === 0 ? emptyPages + 1 : 0
    return emptyPages > MAX_EMPTY_PAGES || (events.length > 0 && events[0]!.seq !== after + 1)
  }

  /** What is left of a page when the client falls behind is read again: nothing is held for it. Whether all of it was sent. */
  function send(events: readonly LoggedEvent[]): boolean {
    for (const event of events) {
      if (!connection.isOpen || connection.isBehind) return false
      if (event.channel === channel) messageOf(event).sendTo(connection)
      after = event.seq
    }
    return true
  }

  return {
    get after() {
      return after
    },
    async sendPage() {
      if (!mayListen()) return false
      const events = await log.read(trader, { after, limit: PAGE_EVENTS })
      if (!mayListen()) return false
      if (!isGone(events)) return send(events) && events.length < PAGE_EVENTS
      options.onGone()
      return false
    },
  }
}
