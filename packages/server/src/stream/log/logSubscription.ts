import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, CLOSE_CODES, type Address, type LogChannel } from '@bezel/protocol'
import type { Caller } from '../../access/caller.ts'
import { MAX_LOG_BEHIND_MS } from '../bounds.ts'
import type { Subscription, Connection } from '../channel.ts'
import type { LogReader, LogTarget } from './logReader.ts'
import type { TimeSliced } from '../../ground/timeSliced.ts'
import type { LoggedEvent } from '../../store/accountEventStore.ts'

interface LogSubscriptionOptions extends Omit<LogReplayOptions, 'mayListen' | 'onGone'> {
  /** The first message; `undefined` when the client resumes with the events after `after`. */
  readonly snapshot: string | undefined
  readonly trader: Address
  readonly reader: LogReader
  readonly turns: TimeSliced
  /** Returns the reason why the caller may no longer listen; `undefined` while it may. */
  readonly lapseOf: (caller: Caller) => ApiError | undefined
  readonly onError: (error: unknown) => void
  readonly onClose: () => void
}

/** Pause before a failed read of the store is repeated. */
const RETRY_MS = 500

/** Error for a client that missed events which are no longer kept. To continue would hide the gap. */
const GONE = 'Events were forgotten before this socket took them; connect again and subscribe anew.'

const TOO_SLOW = `What waits to be read on this socket was not taken within ${MAX_LOG_BEHIND_MS / 1_000} seconds; connect again and resume with fromSeq.`

/**
 * Creates the subscription of one socket to one channel of a log. It reads its own pages, as fast as the client takes
 * them, until it reaches the position of the trader's shared reader, and follows that reader until the client falls
 * behind.
 */
export function createLogSubscription(connection: Connection, options: LogSubscriptionOptions): Subscription {
  const { trader, channel, reader, turns } = options
  let isOpen = true
  let wait: DrainWait | undefined
  const isListening = (): boolean => isOpen && connection.isOpen
  const replay = createLogReplay(connection, { ...options, mayListen, onGone: () => cut(GONE) })
  const target: LogTarget = {
    channel,
    get after() {
      return replay.after
    },
    prepare: () => void mayListen(),
    take(frame, seq) {
      if (connection.isBehind) return fallBehind(seq)
      connection.sendFrame(frame)
      options.onSent(1)
    },
  }

  /**
   * Leaves the shared reader and continues with own pages from this event on, so that however much is appended at once,
   * no more is written than the client takes.
   */
  function fallBehind(seq: number): void {
    reader.leave(target)
    replay.after = seq - 1
    void catchUp(false)
  }

  function close(): void {
    if (!isOpen) return
    isOpen = false
    reader.leave(target)
    wait?.stop()
    options.onClose()
  }

  /**
   * Checks, before anything is sent, that the client may still receive it, and ends the subscription when it may not.
   */
  function mayListen(): boolean {
    if (!isListening()) return false
    const { caller } = connection
    const lapse = caller?.trader === trader ? options.lapseOf(caller) : undefined
    if (lapse !== undefined) connection.lapse(lapse)
    if (lapse !== undefined || caller?.trader !== trader) close()
    return isListening()
  }

  function cut(message: string): void {
    connection.refuse(new ApiError('RATE_LIMITED', message), { channel: options.channel })
    connection.close(CLOSE_CODES.rateLimited, 'too slow')
    close()
  }

  function drained(): Promise<void> {
    wait = waitForDrain(connection, MAX_LOG_BEHIND_MS, () => cut(TOO_SLOW))
    return wait.isOver
  }

  async function catchUp(isNew: boolean): Promise<void> {
    let isAtEnd = isNew
    while (isListening()) {
      try {
        if (connection.isBehind) await drained()
        if (reader.canJoin(replay.after, isAtEnd)) break
        isAtEnd = await turns.later(replay.sendPage)
      } catch (error) {
        options.onError(error)
        await sleep(RETRY_MS, undefined, { ref: false })
      }
    }
    if (isListening()) reader.join(target)
  }

  return {
    close,
    start() {
      if (!mayListen()) return
      if (options.snapshot !== undefined) connection.send(options.snapshot)
      void catchUp(options.snapshot !== undefined)
    },
  }
}

/** A wait until all bytes written to a socket are taken. */
interface DrainWait {
  readonly isOver: Promise<void>
  /** Ends the wait early. */
  stop(): void
}

/** Waits for the drain of a socket. Calls `onLate` when it takes longer than `maxMs`. */
function waitForDrain(connection: Pick<Connection, 'onDrain'>, maxMs: number, onLate: () => void): DrainWait {
  const { promise, resolve } = Promise.withResolvers<void>()
  const late = setTimeout(onLate, maxMs)
  const stop = (): void => {
    clearTimeout(late)
    resolve()
  }
  connection.onDrain(stop)
  return { isOver: promise, stop }
}

/** Sends the events of one channel that a socket has missed, page by page. */
interface LogReplay {
  /** Sequence number up to which everything is sent. Set by code that sends events without this replay. */
  after: number
  /** Sends the next page, as far as the client takes it. Resolves to true at the end of the log. */
  sendPage(): Promise<boolean>
}

interface LogReplayOptions {
  readonly channel: LogChannel
  /** Sequence number of the last event that the client has or does not want. */
  readonly after: number
  readonly reader: Pick<LogReader, 'page'>
  readonly frameOf: (event: LoggedEvent) => Buffer
  /** Called with the number of messages that were written. */
  readonly onSent: (count: number) => void
  /** Returns true while the client is connected and may receive events. Called before each page. */
  readonly mayListen: () => boolean
  /** Called when the next events are no longer kept. */
  readonly onGone: () => void
}

/**
 * The number of bytes to write to a socket at once. A system call for each event would cost more than everything else.
 */
const CHUNK_BYTES = 64 * 1024

/**
 * The number of empty pages in a row that are accepted. A page can be empty while another socket is already further;
 * more of them mean that the next events are no longer kept.
 */
const MAX_EMPTY_PAGES = 3

function createLogReplay(connection: Connection, options: LogReplayOptions): LogReplay {
  const { channel, reader, frameOf, mayListen } = options
  let after = options.after
  let emptyPages = 0

  function isGone(events: readonly LoggedEvent[]): boolean {
    emptyPages = events.length === 0 ? emptyPages + 1 : 0
    return emptyPages > MAX_EMPTY_PAGES || (events.length > 0 && events[0]!.seq !== after + 1)
  }

  /**
   * Sends events until the client falls behind. The rest of the page is read again later and not kept in memory.
   * Returns true when all events were sent.
   */
  function send(events: readonly LoggedEvent[]): boolean {
    for (let at = 0; at < events.length;) {
      if (!connection.isOpen || connection.isBehind) return false
      at = sendChunk(events, at)
      after = events[at - 1]!.seq
    }
    return true
  }

  /** Sends events from index `from` on. Returns the index of the first event that was not sent. */
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
