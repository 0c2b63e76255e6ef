import type { LoggedEvent } from '../../store/loggedEvent.ts'
import type { LogChannel } from '@bezel/protocol'
import type { Connection } from '../connection.ts'
import type { LogReader } from './logReader.ts'

/** What a socket has missed of one channel, page by page. */
export interface LogReplay {
  /** Everything up to this event is sent; moved on by who sends without it. */
  after: number
  /** Sends what follows, as far as the client takes it. Whether it has come to the end of the log. */
  sendPage(): Promise<boolean>
}

export interface LogReplayOptions {
  readonly channel: LogChannel
  /** The last event that the client has, or does not want. */
  readonly after: number
  readonly reader: Pick<LogReader, 'page'>
  readonly frameOf: (event: LoggedEvent) => Buffer
  /** So many more messages were written. */
  readonly onSent: (count: number) => void
  /** Asked before each page: whether the client is still there and may have it. */
  readonly mayListen: () => boolean
  /** What should follow is no longer kept. */
  readonly onGone: () => void
}

/** Written to a socket at once: a call of the system for each event would cost more than all else. */
const CHUNK_BYTES = 64 * 1024

/** A page can be empty while another socket is already further; several in a row mean that what should follow is no longer kept. */
const MAX_EMPTY_PAGES = 3

export function createLogReplay(connection: Connection, options: LogReplayOptions): LogReplay {
  const { channel, reader, frameOf, mayListen } = options
  let after = options.after
  let emptyPages = 0

  function isGone(events: readonly LoggedEvent[]): boolean {
    emptyPages = events.length === 0 ? emptyPages + 1 : 0
    return emptyPages > MAX_EMPTY_PAGES || (events.length > 0 && events[0]!.seq !== after + 1)
  }

  /** What is left of a page when the client falls behind is read again: nothing is held for it. Whether all of it was sent. */
  function send(events: readonly LoggedEvent[]): boolean {
    for (let at = 0; at < events.length;) {
      if (!connection.isOpen || connection.isBehind) return false
      at = sendChunk(events, at)
      after = events[at - 1]!.seq
    }
    return true
  }

  /** Up to which place. */
  function sendChunk(events: readonly LoggedEvent[], from: number): number {
    const frames: Buffer[] = []
    let at = from
    for (let bytes = 0; at < events.length && bytes < CHUNK_BYTES; at += 1) {
      if (events[at]!.channel !== channel) continue
      const frame = frameOf(events[at]!)
      frames.push(frame)
      bytes += frame.length
    }
    if (frames.length > 0) connection.sendFrame(frames.length === 1 ? frames[0]! : Buffer.concat(frames))
    options.onSent(frames.length)
    return at
  }

  return {
    get after() {
      return after
    },
    set after(seq) {
      after = seq
    },
    async sendPage() {
      if (!mayListen()) return false
      const { events, isLast } = await reader.page(after)
      if (!mayListen()) return false
      if (!isGone(events)) return send(events) && isLast
      options.onGone()
      return false
    },
  }
}
