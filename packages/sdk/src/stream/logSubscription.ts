import type { LogChannel } from '@bezel/protocol/wire'
import type { Kept } from './topic.ts'
import type { Line } from './line.ts'
import { createReader, type Reader, type StreamSubscription } from './reader.ts'
import type { LogEvent, LogEvents } from './streamEvents.ts'

export interface LogSubscriptionOptions {
  /** Number of the first event wanted; without it a snapshot of the state comes first. */
  readonly fromSeq?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Events that may wait for the reader. */
  readonly maxWaiting: number
  readonly onEnd: () => void
}

/** A log subscription from the inside. */
interface LogSubscription<Channel extends LogChannel> {
  readonly subscription: StreamSubscription<LogEvents[Channel]>
  close(): void
}

/**
 * Opens a private channel whose events arrive once and in order, over any number of sockets. At most `maxWaiting`
 * events wait for a slow reader; then the subscription ends at the service, and it continues with the next event once
 * these are read.
 */
export function openLogSubscription<Channel extends LogChannel>(
  line: Line,
  channel: Channel,
  options: LogSubscriptionOptions,
): LogSubscription<Channel> {
  type Event = LogEvents[Channel]
  const { maxWaiting } = options
  const waiting: Event[] = []
  let nextSeq = options.fromSeq
  let isPaused = false

  const kept: Kept = {
    topic: { channel },
    fromSeq: () => nextSeq,
    receive(event) {
      const { seq } = event as LogEvent
      if (isPaused || (nextSeq !== undefined && seq < nextSeq)) return
      nextSeq = seq + 1
      waiting.push(event as Event)
      isPaused = waiting.length >= maxWaiting
      if (isPaused) line.pause(kept)
      reader.wake()
    },
    fail: (error) => reader.fail(error),
  }

  function take(): Event | undefined {
    const event = waiting.shift()
    if (isPaused && waiting.length === 0) {
      isPaused = false
      line.resume(kept)
    }
    return event
  }

  const reader: Reader<Event> = createReader({
    take,
    signal: options.signal,
    onEnd() {
      // Waiting events can still be read after a failure, and must not subscribe again.
      isPaused = false
      line.remove(kept)
      options.onEnd()
    },
  })
  line.add(kept)
  return reader
}
