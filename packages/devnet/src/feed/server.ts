import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { createFeedFaults, type FeedFaults } from './feedFaults.ts'
import type { Prices, PublishedTick } from './prices.ts'
import { priceNumber, FeedInputError } from './price.ts'
import { WebSocket, WebSocketServer } from 'ws'
import { CANDLE_MINUTES, countCandles } from './candles.ts'
import { MINUTE_MS } from './spanTree.ts'

/** The feed, to be mounted under a path of an HTTP server. Paths are what follows the mount, with their query. */
interface FeedServer {
  onRequest(request: IncomingMessage, response: ServerResponse, path: string): void
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, path: string): void
  /** Closes every socket with 1001. The prices continue. */
  close(): void
}

export interface FeedServerOptions {
  /** Default none. */
  readonly faults?: FeedFaults
  readonly maxSockets?: number
  /** Unread bytes after which a reader is disconnected. Default 1,000,000. */
  readonly maxUnreadBytes?: number
}

const HEARTBEAT_MS = 1_000

/** Unread bytes after which a reader is disconnected: about three minutes of frames. */
const MAX_UNREAD_BYTES = 1_000_000

/** Longest message of a client. Clients have nothing to send here. */
const MAX_CLIENT_MESSAGE_BYTES = 1_024

/** Time for a client to answer the closing frame before it is disconnected. */
const CLOSE_TIMEOUT_MS = 1_000

const FINAL_TEXT = 0x81

const MAX_CANDLES = 5_000

/**
 * Digits of a number in a path: seconds up to the year 5138. More is a mistake, and in milliseconds it is still exact.
 */
const MAX_DIGITS = 11

/**
 * Creates a server that speaks the wire format of the live feed, so that a service's real feed client runs against it.
 */
export function createFeedServer(
  prices: Prices,
  { faults = createFeedFaults(prices.pairs), maxSockets = 500, maxUnreadBytes }: FeedServerOptions = {},
): FeedServer {
  const v3 = createSubscribers(maxUnreadBytes)
  const v4 = createSubscribers(maxUnreadBytes)
  const streams = new Map([
    ['', v3],
    ['/v3', v3],
    ['/v4', v4],
  ])
  const stopListening = prices.onTick(({ timeMs, quotes }) => {
    const tick = { timeMs, quotes: quotes.filter(({ pairIndex }) => !faults.isHidden(pairIndex)) }
    if (tick.quotes.length > 0) {
      if (v4.count > 0) v4.write(feedFrame(v4Text(tick)))
      if (v3.count > 0) v3.write(feedFrame(v3Text(tick)))
    }
    if (isHeartbeat(tick)) for (const subscribers of [v3, v4]) subscribers.write(feedFrame(heartbeatText(tick.timeMs)))
  })
  return {
    onRequest: (request, response, path) => servePage({ prices, faults }, request, response, path),
    onUpgrade: (request, socket, head, path) => {
      const subscribers = streams.get(path.replace(/\/?(\?.*)?$/, ''))
      if (subscribers === undefined)
        refuse(socket, '404 Not Found', 'The price feed has no such stream; it has /v4 and /v3.')
      else if (v3.count + v4.count >= maxSockets)
        refuse(socket, '503 Service Unavailable', 'The price feed has no free stream.')
      else subscribers.add(request, socket, head)
    },
    close: () => {
      stopListening()
      v3.close()
      v4.close()
    },
  }
}

/**
 * Returns true for a tick on a whole second, which is every fourth. A price set by hand hardly ever is, and one more
 * heartbeat is harmless.
 */
function isHeartbeat({ timeMs }: PublishedTick): boolean {
  return timeMs % HEARTBEAT_MS === 0
}

function refuse(socket: Duplex, status: string, sentence: string): void {
  const body = JSON.stringify({ error: sentence })
  socket.on('error', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
  )
}

/** The sockets of one version of the wire format. */
interface Subscribers {
  readonly count: number
  /** Completes the upgrade; the socket receives every frame from then on. */
  add(request: IncomingMessage, socket: Duplex, head: Buffer): void
  write(frame: Buffer): void
  close(): void
}

/**
 * Creates the sockets of one version. Frames go straight to the TCP sockets: the library's sender would build the same
 * frame again for each of them.
 */
function createSubscribers(maxUnreadBytes = MAX_UNREAD_BYTES): Subscribers {
  const upgrader = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MAX_CLIENT_MESSAGE_BYTES,
  })
  const sockets = new Map<WebSocket, Duplex>()
  return {
    get count() {
      return sockets.size
    },
    add: (request, socket, head) =>
      upgrader.handleUpgrade(request, socket, head, (client) => {
        sockets.set(client, socket)
        client.on('close', () => sockets.delete(client))
        client.on('error', () => client.terminate())
      }),
    write: (frame) => {
      for (const [client, socket] of sockets) {
        if (socket.writableLength > maxUnreadBytes) client.terminate()
        else if (client.readyState === WebSocket.OPEN) socket.write(frame)
      }
    },
    close: () => {
      for (const client of sockets.keys()) closeSoon(client)
      upgrader.close()
    },
  }
}

function closeSoon(client: WebSocket): void {
  client.close(1001, 'the feed stops')
  setTimeout(() => client.terminate(), CLOSE_TIMEOUT_MS).unref()
}

/** Prices by pair index; `null` where nothing is listed. */
type PriceColumn = (number | null)[]

/**
 * Returns a tick in version 4 of the wire format: marks and indices apart, each as `[pairIndex, price, pairIndex,
 * price, ...]`.
 */
export function v4Text({ timeMs, quotes }: PublishedTick): string {
  return JSON.stringify({
    m: quotes.flatMap(({ pairIndex, mark }) => [pairIndex, priceNumber(mark)]),
    i: quotes.flatMap(({ pairIndex, index }) => [pairIndex, priceNumber(index)]),
    t: timeMs,
  })
}

/** Returns a tick in version 3: the marks alone, as one flat array. */
export function v3Text({ quotes }: PublishedTick): string {
  return JSON.stringify(quotes.flatMap(({ pairIndex, mark }) => [pairIndex, priceNumber(mark)]))
}

/** Returns the heartbeat of both versions. */
export function heartbeatText(timeMs: number): string {
  return JSON.stringify([timeMs])
}

/** Returns a whole unmasked WebSocket text frame (RFC 6455, section 5.2), built once and written to every socket. */
export function feedFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  return Buffer.concat([frameHeader(payload.length), payload])
}

function frameHeader(length: number): Buffer {
  if (length < 126) return Buffer.from([FINAL_TEXT, length])
  if (length < 65_536) return Buffer.from([FINAL_TEXT, 126, length >> 8, length & 0xff])
  const header = Buffer.alloc(10)
  header.writeUInt16BE((FINAL_TEXT << 8) | 127)
  header.writeBigUInt64BE(BigInt(length), 2)
  return header
}

/** The prices behind the pages, and their faults. */
interface PageSource {
  readonly prices: Prices
  readonly faults: FeedFaults
}

/** Thrown by a page that is broken on purpose. */
class BrokenPageError extends Error {
  override readonly name = 'BrokenPageError'
}

/** Answers a request of the feed. `path` is what follows the mount, with its query. */
function servePage(source: PageSource, request: IncomingMessage, response: ServerResponse, path: string): void {
  if (request.method !== 'GET') return send(response, 405, { error: 'The price feed only answers GET.' })
  try {
    const page = pageAt(source, path)
    if (page === undefined) send(response, 404, { error: 'The price feed has no such page.' })
    else send(response, 200, page)
  } catch (error) {
    if (error instanceof BrokenPageError) return send(response, 500, { error: error.message })
    if (!(error instanceof FeedInputError)) throw error
    send(response, 400, { error: error.message })
  }
}

/** Finds a page of the feed: one visible list. */
function pageAt({ prices, faults }: PageSource, path: string): object | undefined {
  const [pathname = '', query = ''] = path.split('?', 2)
  const [, first, ...rest] = pathname.replace(/\/$/, '').split('/')
  if (first === 'market-status' && rest.length === 0) return marketStatus(prices)
  if (first !== 'charts') return undefined
  if (rest.length === 0) return snapshot(prices, faults)
  if (rest.length === 1 && rest[0] === 'prices') return chartPrices(prices, new URLSearchParams(query))
  return rest.length === 4 ? history({ prices, faults }, rest) : undefined
}

/**
 * Answers `GET /market-status`: true for each pair that trades now, by pair index. The live feed has no such page;
 * services prefer it where it exists.
 */
function marketStatus(prices: Prices): object {
  return Object.fromEntries(prices.pairs.map(({ index }) => [index, prices.isOpen(index)]))
}

/** Answers `GET /charts/prices?from=gTrade&pairs=0,1`: the mark of each requested pair, by pair index. */
function chartPrices(prices: Prices, query: URLSearchParams): object {
  if (query.get('from') !== 'gTrade') throw new FeedInputError('"from" must be gTrade.')
  const asked = (query.get('pairs') ?? '').split(',')
  if (asked.length > prices.pairs.length)
    throw new FeedInputError(`At most ${prices.pairs.length} pairs are answered at once.`)
  const indices = asked.map((text) => wholeNumber('pairs', text))
  return Object.fromEntries(indices.map((index) => [index, priceNumber(prices.quote(index).mark)]))
}

/** Answers `GET /charts`: the running one-minute candle of every pair, and its index price. */
function snapshot(prices: Prices, faults: FeedFaults): object {
  const length = Math.max(...prices.pairs.map((pair) => pair.index)) + 1
  const column = (): PriceColumn => Array.from({ length }, () => null)
  const [opens, highs, lows, closes, indexPrices] = [column(), column(), column(), column(), column()]
  const timeMs = prices.timeMs()
  for (const { index } of prices.pairs) {
    const [candle] = prices.candles(index, { fromMs: timeMs - (timeMs % MINUTE_MS), toMs: timeMs, minutes: 1 })
    if (candle === undefined || faults.isHidden(index)) continue
    opens[index] = priceNumber(candle.open)
    highs[index] = priceNumber(candle.high)
    lows[index] = priceNumber(candle.low)
    closes[index] = priceNumber(candle.close)
    indexPrices[index] = priceNumber(prices.quote(index).index)
  }
  return { time: timeMs, opens, highs, lows, closes, indexPrices }
}

/**
 * Answers `GET /charts/{pairIndex}/{fromSec}/{toSec}/{minutes}`: candles that begin between the two times, both
 * included.
 */
function history({ prices, faults }: PageSource, [pairText, fromText, toText, minutesText]: readonly string[]): object {
  const pairIndex = wholeNumber('pairIndex', pairText)
  if (faults.isHistoryBroken(pairIndex)) throw new BrokenPageError('The history of this pair is broken.')
  const minutes = wholeNumber('minutes', minutesText)
  const range = { fromMs: wholeNumber('from', fromText) * 1000, toMs: wholeNumber('to', toText) * 1000, minutes }
  if (!CANDLE_MINUTES.includes(minutes)) {
    throw new FeedInputError(`Candles are ${CANDLE_MINUTES.join(', ')} minutes wide, not ${minutes}.`)
  }
  if (range.fromMs > range.toMs) throw new FeedInputError('"from" is later than "to".')
  const count = countCandles({ ...range, toMs: Math.min(range.toMs, prices.timeMs()) })
  if (count > MAX_CANDLES) {
    throw new FeedInputError(`That range has ${count} candles; at most ${MAX_CANDLES} are answered at once.`)
  }
  return { table: prices.candles(pairIndex, range).map(chartRow) }
}

function chartRow({ timeMs, open, high, low, close }: ReturnType<Prices['candles']>[number]): object {
  return {
    time: timeMs,
    open: priceNumber(open),
    high: priceNumber(high),
    low: priceNumber(low),
    close: priceNumber(close),
  }
}

/** Parses a number in a path or query. Throws a sentence that names it. */
function wholeNumber(name: string, text: string | undefined): number {
  if (text === undefined || !/^\d+$/.test(text) || text.length > MAX_DIGITS) {
    throw new FeedInputError(
      `"${name}" must be a whole number of at most ${MAX_DIGITS} digits, not ${JSON.stringify(text ?? '')}.`,
    )
  }
  return Number(text)
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'access-control-allow-origin': '*',
    'cache-control': 'no-store',
  })
  response.end(text)
}
