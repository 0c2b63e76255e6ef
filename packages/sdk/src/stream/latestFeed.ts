import { conflate, type LatestEvent } from './conflate.ts'
import type { Kept } from './kept.ts'
import type { Line } from './line.ts'
import { createReader, type Reader } from './reader.ts'
import type { Topic } from './topic.ts'

/** A topic of which only the newest state matters, shared by all who read it. */
export interface LatestFeed<Event extends LatestEvent> {
  /** `select` leaves out what a reader does not want; `undefined` when nothing remains. */
  read(options: FeedReadOptions<Event>): Reader<Event>
}

export interface FeedReadOptions<Event> {
  readonly select: (event: Event) => Event | undefined
  readonly signal: AbortSignal | undefined
  readonly onEnd: () => void
}

interface Listener<Event> {
  offer(event: Event): void
  readonly reader: Reader<Event>
}

/** `onUnread` is called when the last reader has gone. */
export function openLatestFeed<Event extends LatestEvent>(
  line: Line,
  topic: Topic,
  onUnread: () => void,
): LatestFeed<Event> {
  const listeners = new Set<Listener<Event>>()
  /** Everything told so far as one snapshot, for those who come later. */
  let state: Event | undefined

  const kept: Kept = {
    topic,
    fromSeq: () => undefined,
    receive(told) {
      // The topic says which events these are.
      const event = told as Event
      if (state === undefined ? !event.snapshot : isGap(state, event)) return startAgain()
      state = state === undefined ? event : conflate(state, event)
      for (const listener of listeners) listener.offer(event)
    },
    fail(error) {
      for (const { reader } of listeners) reader.fail(error)
    },
  }

  /** Something was lost: only a snapshot is right again. */
  function startAgain(): void {
    state = undefined
    line.pause(kept)
    line.resume(kept)
  }

  line.add(kept)
  return {
    read({ select, signal, onEnd }) {
      const listener = createListener(select, signal, () => {
        listeners.delete(listener)
        if (listeners.size === 0) {
          line.remove(kept)
          onUnread()
        }
        onEnd()
      })
      listeners.add(listener)
      if (state !== undefined) listener.offer({ ...state, snapshot: true })
      return listener.reader
    },
  }
}

/** Keeps one event for its reader: the newest, with all that it has not seen. */
function createListener<Event extends LatestEvent>(
  select: (event: Event) => Event | undefined,
  signal: AbortSignal | undefined,
  onEnd: () => void,
): Listener<Event> {
  let waiting: Event | undefined
  const reader = createReader<Event>({
    take() {
      const event = waiting
      waiting = undefined
      return event
    },
    signal,
    onEnd,
  })
  return {
    reader,
    offer(event) {
      const wanted = select(event)
      if (wanted === undefined) return
      waiting = waiting === undefined ? wanted : conflate(waiting, wanted)
      reader.wake()
    },
  }
}

/** Trades and candles have no numbers. */
function isGap(before: LatestEvent, event: LatestEvent): boolean {
  if (event.snapshot || !('seq' in event) || !('seq' in before)) return false
  return event.seq !== before.seq + 1
}
