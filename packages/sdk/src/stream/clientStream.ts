import type { AccountEvent } from '@bezel/protocol/wire'
import type { AccountReads } from '../account/createAccount.ts'
import { createEvents, type EventsOptions } from './createEvents.ts'
import { createStream, STREAM_DEFAULTS, type Stream, type StreamOptions, type StreamSettings } from './createStream.ts'
import type { StreamSubscription } from './reader.ts'

/** The live side of a client. */
export interface ClientStream {
  /** Live data. Without settings it is one and the same each time, and so is its connection. */
  stream(settings?: StreamSettings): Stream
  /**
   * The account's log, each event once and in the order of `seq`: from the beginning or behind `after`, and then live. Keep the last `seq` you worked
   * on, and resume with it whenever you like.
   */
  events(options?: EventsOptions & StreamSettings): StreamSubscription<AccountEvent>
}

export interface ClientStreamOptions extends Omit<StreamOptions, keyof StreamSettings> {
  readonly readPage: AccountReads['events']
}

/** Gives a client its `stream` and `events`. */
export function createClientStream({ readPage, ...of }: ClientStreamOptions): ClientStream {
  const open = (settings: StreamSettings): Stream => createStream({ ...settings, ...of })
  let shared: Stream | undefined
  return {
    stream: (settings) => (settings === undefined ? (shared ??= open({})) : open(settings)),
    events({ after = 0, signal, ...settings } = {}) {
      const { minDelayMs = STREAM_DEFAULTS.minDelayMs, maxDelayMs = STREAM_DEFAULTS.maxDelayMs } = settings
      return createEvents({
        after,
        ...(signal === undefined ? {} : { signal }),
        // Its own, so that nobody ends it who means another one.
        stream: open(settings),
        backOff: { minMs: minDelayMs, maxMs: Math.max(minDelayMs, maxDelayMs) },
        readPage: (place, limit) => readPage({ after: place, limit }),
      })
    },
  }
}
