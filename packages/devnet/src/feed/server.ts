import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { heartbeatText, textFrame, v3Text, v4Text } from './frames.ts'
import { respond } from './http/respond.ts'
import type { Prices, Tick } from './prices.ts'
import { createSubscribers } from './subscribers.ts'

/** The feed as something to mount under a path of an HTTP server. Paths are what follows the mount, with their query. */
export interface FeedServer {
  onRequest(request: IncomingMessage, response: ServerResponse, path: string): void
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, path: string): void
  /** Closes every socket with 1001. The prices go on. */
  close(): void
}

export interface FeedServerOptions {
  readonly maxSockets?: number
  /** A reader that leaves more than this unread is cut. */
  readonly maxUnreadBytes?: number
}

const HEARTBEAT_MS = 1_000

/** Speaks the live feed's own wire format, so that a service's real feed client runs against it. */
export function createFeedServer(
  prices: Prices,
  { maxSockets = 500, maxUnreadBytes }: FeedServerOptions = {},
): FeedServer {
  const v3 = createSubscribers(maxUnreadBytes)
  const v4 = createSubscribers(maxUnreadBytes)
  const streams = new Map([
    ['', v3],
    ['/v3', v3],
    ['/v4', v4],
  ])
  const stopListening = prices.onTick((tick) => {
    if (tick.quotes.length > 0) {
      if (v4.count > 0) v4.write(textFrame(v4Text(tick)))
      if (v3.count > 0) v3.write(textFrame(v3Text(tick)))
    }
    if (isHeartbeat(tick)) for (const subscribers of [v3, v4]) subscribers.write(textFrame(heartbeatText(tick.timeMs)))
  })
  return {
    onRequest: (request, response, path) => respond(prices, request, response, path),
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

/** Ticks fall on every quarter of a second; every fourth is a whole one. A price set by hand hardly ever is, and one heartbeat more is harmless. */
function isHeartbeat({ timeMs }: Tick): boolean {
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
