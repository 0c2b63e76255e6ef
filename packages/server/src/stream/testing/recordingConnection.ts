import { CLOSE_CODES, type ApiError, type ChainSlug, type ErrorCode } from '@bezel/protocol'
import type { Caller } from '../../access/caller.ts'
import type { Subscription, Connection } from '../channel.ts'

/** A socket without a network: it records the messages, and the test decides how fast they are read. */
export interface RecordingConnection extends Connection {
  /** Data messages as sent. */
  readonly texts: string[]
  readonly refusals: ErrorCode[]
  /** Subscriptions that `lapse` and `close` end. */
  readonly subscriptions: Set<Subscription>
  closedWith: number | undefined
  /** True while the client reads nothing. */
  isStuck: boolean
  /** Reads all queued messages. */
  drain(): void
}

/** Limits of the queue, as numbers of messages. */
export interface RecordingBounds {
  readonly behind: number
  readonly cut: number
}

export function createRecordingConnection(
  chain: ChainSlug,
  caller: Caller | undefined,
  bounds: RecordingBounds = { behind: 5, cut: 20 },
): RecordingConnection {
  let waiting = 0
  const drainListeners: (() => void)[] = []

  function write(...texts: readonly string[]): void {
    if (!connection.isOpen) return
    if (waiting > bounds.cut) {
      connection.refusals.push('RATE_LIMITED')
      return connection.close(CLOSE_CODES.rateLimited, '')
    }
    connection.texts.push(...texts)
    if (connection.isStuck) waiting += texts.length
  }

  const connection: RecordingConnection = {
    chain,
    caller,
    texts: [],
    refusals: [],
    subscriptions: new Set(),
    closedWith: undefined,
    isStuck: false,
    get isOpen() {
      return connection.closedWith === undefined
    },
    get isBehind() {
      return waiting > bounds.behind
    },
    send: write,
    sendFrame: (frame) => write(...textsOf(frame)),
    offer: () => {
      throw new Error('a log is never offered')
    },
    onDrain(listener) {
      if (waiting === 0) queueMicrotask(listener)
      else drainListeners.push(listener)
    },
    refuse: (error: ApiError) => void connection.refusals.push(error.code),
    lapse(error) {
      connection.refuse(error)
      connection.caller = undefined
      for (const subscription of connection.subscriptions) subscription.close()
    },
    close(code) {
      connection.closedWith ??= code
      for (const subscription of connection.subscriptions) subscription.close()
    },
    drain() {
      waiting = 0
      if (connection.isOpen) for (const listener of drainListeners.splice(0)) listener()
    },
  }
  return connection
}

/** Returns the texts of consecutive server frames. */
function textsOf(frames: Buffer): string[] {
  const texts: string[] = []
  for (let at = 0; at < frames.length;) {
    const short = frames[at + 1]!
    const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10)
    const length = short < 126 ? short : short === 126 ? frames.readUInt16BE(at + 2) : frames.readUInt32BE(at + 6)
    texts.push(frames.toString('utf8', start, start + length))
    at = start + length
  }
  return texts
}
