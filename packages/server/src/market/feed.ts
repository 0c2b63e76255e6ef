import type { PairQuote } from '../trading/market/pairQuote.ts'
import { openConnection } from './feed/connection.ts'
import { fillFromSnapshot } from './feed/fillFromSnapshot.ts'
import type { FeedPages } from './feed/pages.ts'
import type { FeedFrame, PairPrice } from './feed/parseFrame.ts'
import { createPriceBook, type PriceBook } from './feed/priceBook.ts'
import { reconnectDelayMs } from '../ground/reconnectDelay.ts'
import { createListeners } from '../ground/listeners.ts'

/** What the feed said at one instant. */
export interface Tick {
  /** The feed's own time of it where it gives one, else when it was received. */
  readonly timeMs: number
  readonly receivedAtMs: number
  readonly quotes: readonly PairQuote[]
}

export type TickListener = (tick: Tick) => void

/** A sign of the feed: a frame of prices, or a heartbeat. */
export interface Heard {
  /** The feed's own time of it where it gives one, else when it was received. */
  readonly timeMs: number
  readonly receivedAtMs: number
  /** Which connection it came over. Between two of them ticks may have been missed. */
  readonly connection: number
  /** Every mark of the frame in its order, those that did not change included; none of a heartbeat. */
  readonly marks: readonly PairPrice[]
}

export type HeardListener = (heard: Heard) => void

/** How the stream has behaved since the start. */
export interface FeedCounts {
  readonly connections: number
  readonly frames: number
  /** Messages that were none of the feed's, and entries in good ones that made no sense. */
  readonly ignored: number
}

/** Live prices of all pairs, for all chains. */
export interface Feed {
  readonly book: PriceBook
  /** Returns a function that ends it. */
  onTick(listener: TickListener): () => void
  /** All that is needed to know what was not heard. Told before the tick. Returns a function that ends it. */
  onHeard(listener: HeardListener): () => void
  counts(): FeedCounts
  close(): void
}

export interface FeedOptions {
  /** http or https, without a slash at its end. */
  readonly feedUrl: string
  readonly pages: Pick<FeedPages, 'snapshot'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** In [0, 1). */
  readonly random: () => number
  /** Lost only after it was connected, which is when the first frame came. */
  readonly onConnectionChange: (state: 'connected' | 'lost') => void
  readonly silenceMs?: number
}

const STREAM_PATH = '/v4'

/** How long nothing at all may come before a connection counts as dead. Heartbeats come every second. */
const SILENCE_MS = 10_000

/** Connects, and connects again for ever, until it is closed. */
export function openFeed(options: FeedOptions): Feed {
  const { now, random, silenceMs = SILENCE_MS } = options
  const url = options.feedUrl.replace(/^http/, 'ws') + STREAM_PATH
  const book = createPriceBook()
  const ticks = createListeners<Tick>()
  const signs = createListeners<Heard>()
  const counts = { connections: 0, frames: 0, ignored: 0 }
  let attempt = 0
  let isClosed = false
  /** Whether this connection's prices come with the feed's time: else its heartbeats would be on another clock than its prices. */
  let isTimed = false
  let timer: NodeJS.Timeout | undefined
  let disconnect = connect()

  function connect(): () => void {
    let hasSpoken = false
    let isOpen = true
    return openConnection(url, silenceMs, {
      onOpen() {
        counts.connections += 1
        isTimed = false
        void fillFromSnapshot(book, options.pages, { now, random, isWanted: () => isOpen && !isClosed })
      },
      onFrame(frame) {
        if (!hasSpoken) options.onConnectionChange('connected')
        hasSpoken = true
        attempt = 0
        accept(frame)
      },
      onGarbage: () => (counts.ignored += 1),
      onClose() {
        isOpen = false
        if (isClosed) return
        if (hasSpoken) options.onConnectionChange('lost')
        timer = setTimeout(() => (disconnect = connect()), reconnectDelayMs(attempt++, random()))
      },
    })
  }

  function accept(frame: FeedFrame): void {
    counts.frames += 1
    const receivedAtMs = now()
    if (frame.kind === 'heartbeat') {
      if (isTimed && frame.timeMs !== undefined) hear(frame.timeMs, receivedAtMs, [])
      return
    }
    counts.ignored += frame.skipped
    isTimed = frame.timeMs !== undefined
    const timeMs = frame.timeMs ?? receivedAtMs
    hear(timeMs, receivedAtMs, frame.marks)
    const quotes = book.applyTick(frame, receivedAtMs)
    if (quotes.length === 0) return
    ticks.tell({ timeMs, receivedAtMs, quotes })
  }

  function hear(timeMs: number, receivedAtMs: number, marks: readonly PairPrice[]): void {
    signs.tell({ timeMs, receivedAtMs, connection: counts.connections, marks })
  }

  return {
    book,
    onTick: ticks.add,
    onHeard: signs.add,
    counts: () => ({ ...counts }),
    close() {
      isClosed = true
      clearTimeout(timer)
      disconnect()
    },
  }
}
