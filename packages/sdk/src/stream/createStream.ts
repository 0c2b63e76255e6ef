import type { CandleInterval, LogChannel } from '@bezel/protocol/wire'
import { BezelConfigError } from '../errors/bezelError.ts'
import type { AuthMessage } from '../signing/signRequest.ts'
import { openLatestFeed, type LatestFeed, type LatestEvent } from './latestFeed.ts'
import { createLine, type Line, type StreamStatus } from './line.ts'
import { openLogSubscription } from './logSubscription.ts'
import type { Reader, StreamSubscription } from './reader.ts'
import { isPassing } from './streamError.ts'
import type {
  AccountChange,
  AccountChangeEvent,
  BookEvent,
  CandlesEvent,
  FillsChange,
  FillsEvent,
  LogChanges,
  LogEvents,
  OrdersChange,
  OrdersEvent,
  PositionsChange,
  PositionsEvent,
  PricesEvent,
  StreamEvents,
  TradesEvent,
} from './streamEvents.ts'
import { topicKey, type StreamTopic } from './topic.ts'
import { globalWebSocket, type WebSocketClass } from './socket.ts'

/** Options of every subscription. */
interface AnySubscription {
  /** Ends the subscription, and the loop over it with the reason of the signal as its error. */
  readonly signal?: AbortSignal
}

/** Options of subscriptions to public channels. */
export interface SubscribeOptions extends AnySubscription {
  /** Public channels tell the newest and do not resume; only the private ones have `fromSeq`. */
  readonly fromSeq?: never
}

/** Options of subscriptions to private channels. */
export interface LogOptions extends AnySubscription {
  /** Number of the first event you want: the last one you handled, plus 1. Without it, a snapshot comes first. */
  readonly fromSeq?: number | undefined
}

/** Options of subscriptions to private channels that go on where an earlier one ended. */
export interface ResumeOptions extends AnySubscription {
  /** Number of the first event you want: the last one you handled, plus 1. */
  readonly fromSeq: number
}

/**
 * Live data of a chain. A subscription begins when its method is called and is read with `for await`. Connections are
 * opened, reopened and closed as needed. Read each private channel in one place: a second subscription to it opens
 * another connection.
 */
export interface Stream {
  /** Subscribes to the prices of all markets, or of the given ones. Of a single one nothing else is sent. */
  prices(options?: SubscribeOptions & { readonly markets?: readonly string[] }): StreamSubscription<PricesEvent>
  /** Subscribes to the order book of a market. */
  book(market: string, options?: SubscribeOptions): StreamSubscription<BookEvent>
  /** Subscribes to the executions in a market. */
  trades(market: string, options?: SubscribeOptions): StreamSubscription<TradesEvent>
  /** Subscribes to the candles of a market. */
  candles(market: string, interval: CandleInterval, options?: SubscribeOptions): StreamSubscription<CandlesEvent>
  /** Subscribes to the changes of the trader's orders from number `fromSeq` on. */
  orders(options: ResumeOptions): StreamSubscription<OrdersChange>
  /** Subscribes to the changes of the trader's orders, after a snapshot of the open ones. */
  orders(options?: LogOptions): StreamSubscription<OrdersEvent>
  /** Subscribes to the trader's executions from number `fromSeq` on. */
  fills(options: ResumeOptions): StreamSubscription<FillsChange>
  /** Subscribes to the trader's executions, after a snapshot of the last ones. */
  fills(options?: LogOptions): StreamSubscription<FillsEvent>
  /** Subscribes to the trader's open positions from number `fromSeq` on. */
  positions(options: ResumeOptions): StreamSubscription<PositionsChange>
  /** Subscribes to the trader's open positions, as they are first and then whenever one opens, changes or closes. */
  positions(options?: LogOptions): StreamSubscription<PositionsEvent>
  /** Subscribes to changes of balances, allowances and agents from number `fromSeq` on. */
  account(options: ResumeOptions): StreamSubscription<AccountChange>
  /** Subscribes to changes of balances, allowances and agents, after a snapshot of the account. */
  account(options?: LogOptions): StreamSubscription<AccountChangeEvent>
  /** Ends all subscriptions, and the loops over them without an error. */
  close(): void
}

/** The method of a private channel: what resumes has no snapshot. */
interface LogMethod<Channel extends LogChannel> {
  (options: ResumeOptions): StreamSubscription<LogChanges[Channel]>
  (options?: LogOptions): StreamSubscription<LogEvents[Channel]>
}

/** Settings of a stream. */
export interface StreamSettings {
  /** Called when the status of a connection changes. `socket` numbers the connections from 0. */
  readonly onStatus?: (status: StreamStatus & { readonly socket: number }) => void
  /**
   * WebSocket class to use. Default: the global one, which node has from version 22 on; before that, pass the class of
   * the package `ws`.
   */
  readonly WebSocket?: WebSocketClass
  /** Pause before the first reconnect, doubled after each failed one. Default 1,000 ms. */
  readonly minDelayMs?: number
  /** Longest pause between two attempts. Default 30,000 ms. */
  readonly maxDelayMs?: number
  /** Failed attempts in a row after which subscriptions end with NETWORK_ERROR. Default: no limit. */
  readonly maxAttempts?: number
  /** Timeout of one attempt to connect. Default 10,000 ms. */
  readonly connectTimeoutMs?: number
  /** Longest silence expected between two messages of the service. Default: the value that the service announces. */
  readonly heartbeatMs?: number
  /**
   * Events of a private channel that may wait for a slow reader before the service is asked to pause. Default 1,000.
   */
  readonly maxWaiting?: number
}

/** Options of a stream: its settings, and how it reaches the service. */
export interface StreamOptions extends StreamSettings {
  /** URL of the socket: `ws://host/v1/{chain}/ws`. */
  readonly url: string
  /** Creates the `auth` message of a connection. */
  readonly authenticate?: () => Promise<AuthMessage>
  /** Rejects with the cause when no connection can be made and the cause can be found out. */
  readonly check?: () => Promise<unknown>
  /** Rejects when there is no such market. The `prices` channel carries all markets and would never tell. */
  readonly checkMarket?: (market: string) => Promise<unknown>
}

/** Default settings of a stream. */
export const STREAM_DEFAULTS = {
  minDelayMs: 1_000,
  maxDelayMs: 30_000,
  connectTimeoutMs: 10_000,
  maxWaiting: 1_000,
} as const

type LatestChannel = LatestEvent['channel']

/** The open feeds of each channel by the key of their topic, so that all readers of a topic share one subscription. */
type LatestFeeds = { readonly [Channel in LatestChannel]: Map<string, LatestFeed<StreamEvents[Channel]>> }

/** Returns a function that returns a connection with room for a topic, by its key. */
function createLines(options: StreamOptions): (key: string) => Line {
  const lines: Line[] = []
  return (key) => {
    const free = lines.find((line) => line.hasPlace(key))
    if (free !== undefined) return free
    const line = newLine(options, lines.length)
    lines.push(line)
    return line
  }
}

/** Returns a function that returns the feed of a topic, and opens it when nobody reads it yet. */
function createFeeds(
  lineFor: (key: string) => Line,
): <Channel extends LatestChannel>(topic: StreamTopic<Channel>) => LatestFeed<StreamEvents[Channel]> {
  const feeds: LatestFeeds = { prices: new Map(), book: new Map(), trades: new Map(), candles: new Map() }
  return <Channel extends LatestChannel>(topic: StreamTopic<Channel>) => {
    const ofChannel: Map<string, LatestFeed<StreamEvents[Channel]>> = feeds[topic.channel]
    const key = topicKey(topic)
    const known = ofChannel.get(key)
    if (known !== undefined) return known
    const feed = openLatestFeed<StreamEvents[Channel]>(lineFor(key), topic, () => ofChannel.delete(key))
    ofChannel.set(key, feed)
    return feed
  }
}

/** Creates a stream. Nothing connects before the first subscription. */
export function createStream(options: StreamOptions): Stream {
  const open = new Set<{ close(): void }>()
  const lineFor = createLines(options)
  const feedOf = createFeeds(lineFor)

  function latest<Channel extends LatestChannel>(
    topic: StreamTopic<Channel>,
    { signal }: SubscribeOptions = {},
    select: (event: StreamEvents[Channel]) => StreamEvents[Channel] | undefined = (event) => event,
  ): Reader<StreamEvents[Channel]> {
    const reader: Reader<StreamEvents[Channel]> = feedOf(topic).read({
      select,
      signal,
      onEnd: () => open.delete(reader),
    })
    open.add(reader)
    return reader
  }

  function prices(of: { readonly markets?: readonly string[] } & SubscribeOptions = {}): Reader<PricesEvent> {
    if (of.markets === undefined) return latest({ channel: 'prices' }, of)
    const [only, ...others] = of.markets
    if (only !== undefined && others.length === 0) return latest({ channel: 'prices', market: only }, of)
    const onMissing = (market: string): void => {
      options.checkMarket?.(market).catch((error: unknown) => {
        if (!isPassing(error)) reader.fail(error)
      })
    }
    const reader = latest({ channel: 'prices' }, of, selectMarkets(of.markets, onMissing))
    return reader
  }

  function log<Channel extends LogChannel>(channel: Channel): LogMethod<Channel> {
    function subscribe(of: ResumeOptions): StreamSubscription<LogChanges[Channel]>
    function subscribe(of?: LogOptions): StreamSubscription<LogEvents[Channel]>
    function subscribe({ signal, fromSeq }: LogOptions = {}): StreamSubscription<LogEvents[Channel]> {
      const { maxWaiting = STREAM_DEFAULTS.maxWaiting } = options
      const line = lineFor(topicKey({ channel }))
      const onEnd = (): void => void open.delete(reader)
      const reader = openLogSubscription(line, channel, { signal, fromSeq, maxWaiting, onEnd })
      open.add(reader)
      return reader.subscription
    }
    return subscribe
  }

  return {
    prices: (of) => prices(of).subscription,
    book: (market, of) => latest({ channel: 'book', market }, of).subscription,
    trades: (market, of) => latest({ channel: 'trades', market }, of).subscription,
    candles: (market, interval, of) => latest({ channel: 'candles', market, interval }, of).subscription,
    orders: log('orders'),
    fills: log('fills'),
    positions: log('positions'),
    account: log('account'),
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

/**
 * Keeps the prices of the given markets. A listed market can be without a price for a while, so its absence from the
 * first snapshot is reported once.
 */
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

function noWebSocket(): BezelConfigError {
  return new BezelConfigError(
    'NO_WEBSOCKET',
    'This runtime has no WebSocket (node has one from version 22 on): pass a class, such as that of the package ws, as `WebSocket`.',
  )
}
