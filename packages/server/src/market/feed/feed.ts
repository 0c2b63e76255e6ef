import type { PairQuote } from '../../trading/market/chainMarkets.ts'
import type { FeedPages } from './pages.ts'
import { type FeedFrame, type PairPrice, parseFrame } from './parseFrame.ts'
import { createPriceBook, type PriceBook } from './priceBook.ts'
import { backoffMs } from '../../ground/backoff.ts'
import { createPublisher } from '../../ground/publisher.ts'
import { WebSocket } from 'ws'
import { setTimeout as sleep } from 'node:timers/promises'

/** The prices that the feed sent at one instant. */
export interface Tick {
  /** The feed's own time where it gives one, otherwise the time of receipt. */
  readonly timeMs: number
  readonly receivedAtMs: number
  readonly quotes: readonly PairQuote[]
}

export type TickListener = (tick: Tick) => void

/** A message of the feed: a frame of prices, or a heartbeat. */
export interface Heard {
  /** The feed's own time where it gives one, otherwise the time of receipt. */
  readonly timeMs: number
  readonly receivedAtMs: number
  /** Number of the connection it came over. Between two connections ticks may have been missed. */
  readonly connection: number
  /** All marks of the frame in order, including those that did not change; empty for a heartbeat. */
  readonly marks: readonly PairPrice[]
}

export type HeardListener = (heard: Heard) => void

/**
 * The times, on this machine's clock, at which the feed last gave a sign of life over a connection that has had its
 * snapshot.
 */
export interface FeedPulse {
  /** Time of the last message. A heartbeat proves the connection only. */
  readonly heardAtMs: number
  /** Time of the last price of any pair. */
  readonly pricedAtMs: number
}

/** Figures about the stream since the start. */
export interface FeedCounts {
  readonly connections: number
  readonly frames: number
  /** The number of messages that are not the feed's, and of invalid entries in valid messages. */
  readonly ignored: number
}

/** Live prices of all pairs, for all chains. */
export interface Feed {
  readonly book: PriceBook
  /** Returns the last signs of life; `undefined` until the first snapshot. */
  pulse(): FeedPulse | undefined
  /** Returns true once the first request for a snapshot was answered or has failed, or no connection was made. */
  wasAsked(): boolean
  /** Calls the listener with every tick. Returns a function that ends the subscription. */
  onTick(listener: TickListener): () => void
  /**
   * Calls the listener with every message, before its tick, so that it can tell what was missed. Returns a function
   * that ends the subscription.
   */
  onHeard(listener: HeardListener): () => void
  counts(): FeedCounts
  close(): void
}

export interface FeedOptions {
  /** The http or https URL, without a slash at its end. */
  readonly feedUrl: string
  readonly pages: Pick<FeedPages, 'snapshot'>
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number
  /** Returns a number in [0, 1), for the jitter of reconnects. */
  readonly random: () => number
  /**
   * Called with `connected` at the first frame of a connection, and with `lost` when a connection that had one ends.
   */
  readonly onConnectionChange: (state: 'connected' | 'lost') => void
  readonly silenceMs?: number
}

const STREAM_PATH = '/v4'

/** The longest silence before a connection counts as dead. Heartbeats come every second. */
const SILENCE_MS = 10_000

/** Connects, and reconnects after every loss until it is closed. */
export function openFeed(options: FeedOptions): Feed {
  const { now, random, silenceMs = SILENCE_MS } = options
  const url = options.feedUrl.replace(/^http/, 'ws') + STREAM_PATH
  const book = createPriceBook()
  const frames = createFrames(book, now)
  let connections = 0
  let garbage = 0
  let attempt = 0
  let isClosed = false
  /** Signs of the latest connection that has had its snapshot. */
  let pulse: FeedPulse | undefined
  let wasAsked = false
  let timer: NodeJS.Timeout | undefined
  let disconnect = connect()

  function connect(): () => void {
    let hasSpoken = false
    let isOpen = true
    const signsOfLife = { heardAtMs: Number.NEGATIVE_INFINITY, pricedAtMs: Number.NEGATIVE_INFINITY }
    return openConnection(url, silenceMs, {
      onOpen() {
        connections += 1
        frames.begin(connections)
        const isWanted = (): boolean => isOpen && !isClosed
        const onAsked = (): boolean => (wasAsked = true)
        const onFilled = (): FeedPulse => (pulse = signsOfLife)
        void fillFromSnapshot(book, options.pages, { now, random, isWanted, onAsked, onFilled })
      },
      onFrame(frame) {
        if (!hasSpoken) options.onConnectionChange('connected')
        hasSpoken = true
        attempt = 0
        signsOfLife.heardAtMs = now()
        if (frames.accept(frame)) signsOfLife.pricedAtMs = now()
      },
      onGarbage: () => (garbage += 1),
      onClose() {
        isOpen = false
        // No request follows where no connection could be made.
        wasAsked = true
        if (isClosed) return
        if (hasSpoken) options.onConnectionChange('lost')
        timer = setTimeout(() => (disconnect = connect()), backoffMs(attempt++, random()))
      },
    })
  }

  return {
    book,
    pulse: () => pulse,
    wasAsked: () => wasAsked,
    onTick: frames.onTick,
    onHeard: frames.onHeard,
    counts: () => ({ connections, frames: frames.count(), ignored: garbage + frames.skipped() }),
    close() {
      isClosed = true
      clearTimeout(timer)
      disconnect()
    },
  }
}

/** The frames of all connections, on their way into the book and to the listeners. */
interface Frames extends Pick<Feed, 'onTick' | 'onHeard'> {
  /** Begins a connection. */
  begin(connection: number): void
  /** Passes a frame on. Returns true when it has a price. */
  accept(frame: FeedFrame): boolean
  count(): number
  /** Returns the number of invalid entries in valid frames. */
  skipped(): number
}

function createFrames(book: PriceBook, now: () => number): Frames {
  const ticks = createPublisher<Tick>()
  const signs = createPublisher<Heard>()
  let connection = 0
  let count = 0
  let skipped = 0
  /**
   * True when this connection's prices carry the feed's time. Otherwise its heartbeats would be on another clock than
   * its prices, and are ignored.
   */
  let isTimed = false

  return {
    onTick: ticks.subscribe,
    onHeard: signs.subscribe,
    count: () => count,
    skipped: () => skipped,
    begin(number) {
      connection = number
      isTimed = false
    },
    accept(frame) {
      count += 1
      const receivedAtMs = now()
      if (frame.kind === 'heartbeat') {
        const { timeMs } = frame
        if (isTimed && timeMs !== undefined) signs.publish({ timeMs, receivedAtMs, connection, marks: [] })
        return false
      }
      skipped += frame.skipped
      isTimed = frame.timeMs !== undefined
      const timeMs = frame.timeMs ?? receivedAtMs
      signs.publish({ timeMs, receivedAtMs, connection, marks: frame.marks })
      const quotes = book.applyTick(frame, receivedAtMs)
      if (quotes.length > 0) ticks.publish({ timeMs, receivedAtMs, quotes })
      return quotes.length > 0
    },
  }
}

/** The events of one connection to the stream. */
interface ConnectionEvents {
  onOpen(): void
  onFrame(frame: FeedFrame): void
  /** Called for a message that is not the feed's. */
  onGarbage(): void
  /** Called once, however the connection ended. */
  onClose(): void
}

const HANDSHAKE_TIMEOUT_MS = 5_000

/** The greatest size of a frame. A frame with all pairs has 20 KB. */
const MAX_FRAME_BYTES = 1_000_000

/**
 * Opens one connection to the stream. It is cut when no valid frame comes for `silenceMs`: garbage is no sign of life.
 * Returns a function that closes it.
 */
function openConnection(url: string, silenceMs: number, events: ConnectionEvents): () => void {
  const socket = new WebSocket(url, {
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
  })
  let silence: NodeJS.Timeout | undefined
  function listenOn(): void {
    clearTimeout(silence)
    silence = setTimeout(() => socket.terminate(), silenceMs)
  }
  socket.on('open', () => {
    listenOn()
    events.onOpen()
  })
  socket.on('message', (data, isBinary) => {
    const frame = isBinary ? undefined : parseFrame(String(data))
    if (frame === undefined) return events.onGarbage()
    listenOn()
    events.onFrame(frame)
  })
  // Every error is followed by 'close'; without a listener it would end the process.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    clearTimeout(silence)
    events.onClose()
  })
  return () => socket.terminate()
}

/**
 * Fills the book from the feed's snapshot. Needed at every connection, because only what changes is sent. Retries
 * until the feed answers or the connection is gone.
 */
async function fillFromSnapshot(
  book: PriceBook,
  pages: Pick<FeedPages, 'snapshot'>,
  of: {
    now: () => number
    random: () => number
    isWanted: () => boolean
    onAsked: () => void
    onFilled: () => void
  },
): Promise<void> {
  for (let tries = 0; of.isWanted(); tries += 1) {
    const askedAtMs = of.now()
    try {
      const { marks, indices } = await pages.snapshot()
      book.applySnapshot(marks, indices, askedAtMs, of.now())
      if (of.isWanted()) of.onFilled()
      of.onAsked()
      return
    } catch {
      of.onAsked()
      await sleep(backoffMs(tries, of.random()), undefined, { ref: false })
    }
  }
}
