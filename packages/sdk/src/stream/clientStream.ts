import type { AccountEvent } from '@bezel/protocol/wire'
import type { AccountReads } from '../account/createAccount.ts'
import { createEvents, type EventsOptions } from './createEvents.ts'
import { createStream, STREAM_DEFAULTS, type Stream, type StreamOptions, type StreamSettings } from './createStream.ts'
import type { StreamSubscription } from './reader.ts'

/** The live part of a client. */
export interface ClientStream {
  /** Opens live data. Without settings, every call returns the same stream and connection. */
  stream(settings?: StreamSettings): Stream
  /**
   * Reads the account's log, each event once and in the order of `seq`: from the beginning or after `after`, then live.
   * Store the last `seq` you handled, and resume from it at any time.
   */
  events(options?: EventsOptions & StreamSettings): StreamSubscription<AccountEvent>
}

interface ClientStreamOptions extends Omit<StreamOptions, keyof StreamSettings> {
  readonly readPage: AccountReads['events']
}

/** Creates `stream` and `events` of a client. */
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
        // A stream of its own, so that closing another one does not end it.
        stream: open(settings),
        backOff: { minMs: minDelayMs, maxMs: Math.max(minDelayMs, maxDelayMs) },
        readPage: (place, limit) => readPage({ after: place, limit }),
      })
    },
  }
}
