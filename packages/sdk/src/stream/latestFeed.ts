import type { Kept, StreamTopic } from './topic.ts'
import type { Line } from './line.ts'
import { createReader, type Reader } from './reader.ts'
import type { BookEvent, CandlesEvent, PricesEvent, TradesEvent } from './streamEvents.ts'

/** The events of channels whose newest state is all that counts. */
export type LatestEvent = PricesEvent | BookEvent | TradesEvent | CandlesEvent

/** A topic of which only the newest state matters, shared by all its readers. */
export interface LatestFeed<Event extends LatestEvent> {
  /** Adds a reader. `select` filters an event for it, and returns `undefined` when nothing remains. */
  read(options: FeedReadOptions<Event>): Reader<Event>
}

interface FeedReadOptions<Event> {
  readonly select: (event: Event) => Event | undefined
  readonly signal: AbortSignal | undefined
  readonly onEnd: () => void
}

interface Listener<Event> {
  offer(event: Event): void
  readonly reader: Reader<Event>
}

/** Entries that a snapshot of the service lists at most. */
const MAX_LISTED = 100

/** Opens the feed of a topic. `onUnread` is called when the last reader has gone. */
export function openLatestFeed<Event extends LatestEvent>(
  line: Line,
  topic: StreamTopic,
  onUnread: () => void,
): LatestFeed<Event> {
  const listeners = new Set<Listener<Event>>()
  /** All events so far as one snapshot, for readers that come later. */
  let state: Event | undefined

  const kept: Kept = {
    topic,
    fromSeq: () => undefined,
    receive(told) {
      // The topic determines the type of its events.
      const event = told as Event
      if (state === undefined ? !event.snapshot : isGap(state, event)) return startAgain()
      state = state === undefined ? event : conflate(state, event)
      for (const listener of listeners) listener.offer(event)
    },
    fail(error) {
      for (const { reader } of listeners) reader.fail(error)
    },
  }

  /** Starts again with a snapshot after an event was lost. */
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

/** Creates a listener that keeps one event for its reader: the newest, merged with all it has not read. */
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

/** Returns true when numbered events are missing before this one. Trades and candles have no numbers. */
function isGap(before: LatestEvent, event: LatestEvent): boolean {
  if (event.snapshot || !('seq' in event) || !('seq' in before)) return false
  return event.seq !== before.seq + 1
}

/**
 * Merges two events of one topic into one that says the same, so that what waits for a slow reader never grows. A
 * snapshot replaces everything before it.
 */
export function conflate<Event extends LatestEvent>(earlier: Event, later: Event): Event

export function conflate(earlier: LatestEvent, later: LatestEvent): LatestEvent {
  if (later.snapshot || earlier.channel !== later.channel) return later
  switch (later.channel) {
    case 'prices':
      return conflatePrices(earlier as PricesEvent, later)
    case 'book':
      return { ...later, snapshot: earlier.snapshot }
    case 'trades':
      return conflateTrades(earlier as TradesEvent, later)
    case 'candles':
      return conflateCandles(earlier as CandlesEvent, later)
  }
}

function conflatePrices(earlier: PricesEvent, later: PricesEvent): PricesEvent {
  const byMarket = new Map([...earlier.data, ...later.data].map((price) => [price.market, price]))
  return { ...later, snapshot: earlier.snapshot, data: [...byMarket.values()] }
}

/**
 * Merges trades. When older ones fall out, the rest is marked as a snapshot, so that nobody takes it for all there was.
 */
function conflateTrades(earlier: TradesEvent, later: TradesEvent): TradesEvent {
  const data = [...later.data, ...earlier.data]
  return { ...later, snapshot: earlier.snapshot || data.length > MAX_LISTED, data: data.slice(0, MAX_LISTED) }
}

function conflateCandles(earlier: CandlesEvent, later: CandlesEvent): CandlesEvent {
  const byTime = new Map([...earlier.data, ...later.data].map((candle) => [candle.time, candle]))
  const data = [...byTime.values()].toSorted((a, b) => a.time - b.time)
  return { ...later, snapshot: earlier.snapshot || data.length > MAX_LISTED, data: data.slice(-MAX_LISTED) }
}
