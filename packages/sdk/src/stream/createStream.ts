import type { CandleInterval, LogChannel } from '@bezel/protocol/wire'
import { BezelError } from '../errors/bezelError.ts'
import type { AuthMessage } from '../signing/authMessage.ts'
import { openLatestFeed, type LatestFeed } from './latestFeed.ts'
import { createLine, type Line } from './line.ts'
import { openLogSubscription } from './logSubscription.ts'
import type { LatestEvent } from './conflate.ts'
import type { Reader, StreamSubscription } from './reader.ts'
import { isPassing } from './streamError.ts'
import type {
  AccountChangeEvent,
  BookEvent,
  CandlesEvent,
  FillsEvent,
  OrdersEvent,
  PositionsEvent,
  PricesEvent,
  StreamEvents,
  TradesEvent,
} from './streamEvents.ts'
import type { StreamStatus } from './streamStatus.ts'
import { topicKey, type Topic } from './topic.ts'
import { globalWebSocket, type WebSocketClass } from './webSocketClass.ts'

export interface SubscribeOptions {
  /** Ends the subscription, and the loop over it with the signal's reason as error. */
  readonly signal?: AbortSignal
}

export interface LogOptions extends SubscribeOptions {
  /** The first event that is wanted: the last one you worked on + 1. Without it a snapshot comes first. */
  readonly fromSeq?: number
}

/**
 * Live data. A subscription begins when its method is called, and each is read with `for await`; connections are made, made again and ended as they are
 * needed. Read a private channel in one place: a second subscription to it takes a connection of its own.
 */
export interface Stream {
  /** Of all markets, or of those named. */
  prices(options?: SubscribeOptions & { readonly markets?: readonly string[] }): StreamSubscription<PricesEvent>
  book(market: string, options?: SubscribeOptions): StreamSubscription<BookEvent>
  trades(market: string, options?: SubscribeOptions): StreamSubscription<TradesEvent>
  candles(market: string, interval: CandleInterval, options?: SubscribeOptions): StreamSubscription<CandlesEvent>
  orders(options?: LogOptions): StreamSubscription<OrdersEvent>
  fills(options?: LogOptions): StreamSubscription<FillsEvent>
  positions(options?: LogOptions): StreamSubscription<PositionsEvent>
  account(options?: LogOptions): StreamSubscription<AccountChangeEvent>
  /** Ends all subscriptions, and the loops over them without an error. */
  close(): void
}

export interface StreamSettings {
  /** How the connections are; `socket` counts them from 0. */
  readonly onStatus?: (status: StreamStatus & { readonly socket: number }) => void
  /** Needed before node 22: the class of the package `ws`, for example. */
  readonly WebSocket?: WebSocketClass
  /** Wait before the first new attempt; doubled with each one that fails. */
  readonly minDelayMs?: number
  readonly maxDelayMs?: number
  /** Failed attempts in a row after which subscriptions end with NETWORK_ERROR. Without it, it is tried for ever. */
  readonly maxAttempts?: number
  readonly connectTimeoutMs?: number
  /** Between two signs of life of the service, if it is not what the service says. */
  readonly heartbeatMs?: number
  /** Events of a private channel that may wait for a slow loop before the service is asked to hold them back. */
  readonly maxWaiting?: number
}

export interface StreamOptions extends StreamSettings {
  /** Of the socket: `ws://host/v1/{chain}/ws`. */
  readonly url: string
  /** A new `auth` message for each connection. */
  readonly authenticate?: () => Promise<AuthMessage>
  /** Rejects with what is wrong when no connection can be made, if it can be found out. */
  readonly check?: () => Promise<unknown>
  /** Rejects when there is no such market: `prices` has all of them, and would never tell. */
  readonly checkMarket?: (market: string) => Promise<unknown>
}

/** What settings are when nothing is said. */
export const STREAM_DEFAULTS = {
  minDelayMs: 1_000,
  maxDelayMs: 30_000,
  connectTimeoutMs: 10_000,
  maxWaiting: 1_000,
} as const

/** See `Stream`. */
export function createStream(options: StreamOptions): Stream {
  const open = new Set<{ close(): void }>()
  const feeds = new Map<string, LatestFeed<LatestEvent>>()
  const lines: Line[] = []

  function lineFor(key: string): Line {
    const free = lines.find((line) => line.hasPlace(key))
    if (free !== undefined) return free
    const line = newLine(options, lines.length)
    lines.push(line)
    return line
  }

  function feedOf(topic: Topic): LatestFeed<LatestEvent> {
    const key = topicKey(topic)
    const known = feeds.get(key)
    if (known !== undefined) return known
    const feed = openLatestFeed<LatestEvent>(lineFor(key), topic, () => feeds.delete(key))
    feeds.set(key, feed)
    return feed
  }

  function latest<Event extends LatestEvent>(
    topic: Topic,
    { signal }: SubscribeOptions = {},
    select: (event: Event) => Event | undefined = (event) => event,
  ): Reader<Event> {
    // The topic says which events its feed has.
    const feed = feedOf(topic) as unknown as LatestFeed<Event>
    const reader = feed.read({ select, signal, onEnd: () => open.delete(reader) })
    open.add(reader)
    return reader
  }

  function prices(of: { readonly markets?: readonly string[] } & SubscribeOptions = {}): Reader<PricesEvent> {
    if (of.markets === undefined) return latest({ channel: 'prices' }, of)
    const onMissing = (market: string): void => {
      options.checkMarket?.(market).catch((error: unknown) => {
        if (!isPassing(error)) reader.fail(error)
      })
    }
    const reader = latest({ channel: 'prices' }, of, selectMarkets(of.markets, onMissing))
    return reader
  }

  function log<Channel extends LogChannel>(
    channel: Channel,
    { signal, fromSeq }: LogOptions = {},
  ): StreamSubscription<StreamEvents[Channel]> {
    const { maxWaiting = STREAM_DEFAULTS.maxWaiting } = options
    const onEnd = (): void => void open.delete(reader)
    const reader = openLogSubscription(lineFor(topicKey({ channel })), channel, { signal, fromSeq, maxWaiting, onEnd })
    open.add(reader)
    return reader.subscription
  }

  return {
    prices: (of) => prices(of).subscription,
    book: (market, of) => latest<BookEvent>({ channel: 'book', market }, of).subscription,
    trades: (market, of) => latest<TradesEvent>({ channel: 'trades', market }, of).subscription,
    candles: (market, interval, of) => latest<CandlesEvent>({ channel: 'candles', market, interval }, of).subscription,
    orders: (of) => log('orders', of),
    fills: (of) => log('fills', of),
    positions: (of) => log('positions', of),
    account: (of) => log('account', of),
    close() {
      for (const reader of open) reader.close()
    },
  }
}

function newLine(options: StreamOptions, socket: number): Line {
  const { minDelayMs = STREAM_DEFAULTS.minDelayMs, maxDelayMs = STREAM_DEFAULTS.maxDelayMs } = options
  const WebSocket = options.WebSocket ?? globalWebSocket()
  if (WebSocket === undefined) throw noWebSocket()
  return createLine({
    WebSocket,
    url: options.url,
    authenticate: options.authenticate,
    check: options.check,
    backOff: { minMs: minDelayMs, maxMs: Math.max(minDelayMs, maxDelayMs) },
    maxAttempts: options.maxAttempts ?? Number.POSITIVE_INFINITY,
    connectTimeoutMs: options.connectTimeoutMs ?? STREAM_DEFAULTS.connectTimeoutMs,
    heartbeatMs: options.heartbeatMs,
    onStatus: (status) => options.onStatus?.({ ...status, socket }),
  })
}

/** A market that is listed can be without a price for a while; the first snapshot without it is reason to ask, once. */
function selectMarkets(
  markets: readonly string[],
  onMissing: (market: string) => void,
): (event: PricesEvent) => PricesEvent | undefined {
  const wanted = new Set(markets)
  let isFirst = true
  return (event) => {
    const data = event.data.filter(({ market }) => wanted.has(market))
    if (isFirst) for (const market of wanted) if (!data.some((price) => price.market === market)) onMissing(market)
    isFirst = false
    return data.length === 0 && !event.snapshot ? undefined : { ...event, data }
  }
}

function noWebSocket(): BezelError {
  return new BezelError(
    'NO_WEBSOCKET',
    'This runtime has no WebSocket (node has one from version 22 on): pass a class, such as that of the package ws, as `WebSocket`.',
  )
}
