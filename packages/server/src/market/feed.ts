import { openConnection } from './feed/connection.ts'
import { fillFromSnapshot } from './feed/fillFromSnapshot.ts'
import type { FeedPages } from './feed/pages.ts'
import type { FeedFrame } from './feed/parseFrame.ts'
import { createPriceBook, type PairQuote, type PriceBook } from './feed/priceBook.ts'
import { reconnectDelayMs } from './feed/reconnectDelay.ts'

/** What the feed said at one instant. */
export interface Tick {
  /** The feed's own time of it where it gives one, else when it was received. */
  readonly timeMs: number
  readonly receivedAtMs: number
  readonly quotes: readonly PairQuote[]
}

export type TickListener = (tick: Tick) => void

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
  const listeners = new Set<TickListener>()
  const counts = { connections: 0, frames: 0, ignored: 0 }
  let attempt = 0
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let disconnect = connect()

  function connect(): () => void {
    let hasSpoken = false
    let isOpen = true
    return openConnection(url, silenceMs, {
      onOpen() {
        counts.connections += 1
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
    if (frame.kind === 'heartbeat') return
    counts.ignored += frame.skipped
    const receivedAtMs = now()
    const quotes = book.applyTick(frame, receivedAtMs)
    if (quotes.length === 0) return
    const tick = { timeMs: frame.timeMs ?? receivedAtMs, receivedAtMs, quotes }
    for (const listener of listeners) listener(tick)
  }

  return {
    book,
    onTick(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    counts: () => ({ ...counts }),
    close() {
      isClosed = true
      clearTimeout(timer)
      disconnect()
    },
  }
}
