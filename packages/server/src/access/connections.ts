import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { clientIp, networkOf } from './ipAddress.ts'
import { ipBuckets } from './limits.ts'

/** Places that networks may take at a time, at the three levels of IPv6. */
export interface NetworkPlaces {
  /** Takes a place. Returns the function that gives it back, or `undefined` when the network has none left. */
  take(network: string): (() => void) | undefined
}

/** Creates places: `perNetwork` for an IPv4 address or an IPv6 /64, twice as many for a /56, four times for a /48. */
export function createNetworkPlaces(perNetwork: number): NetworkPlaces {
  const taken = new Map<string, number>()

  function add(key: string, count: number): void {
    const left = (taken.get(key) ?? 0) + count
    if (left === 0) taken.delete(key)
    else taken.set(key, left)
  }

  return {
    take(network) {
      const levels = ipBuckets(network, perNetwork)
      if (levels.some(({ key, limit }) => (taken.get(key) ?? 0) >= limit)) return undefined
      for (const { key } of levels) add(key, 1)
      return () => {
        for (const { key } of levels) add(key, -1)
      }
    },
  }
}

/** Bounds of a server's connections. */
export interface ConnectionBounds {
  readonly maxConnections: number
  readonly connectionsPerIp: number
  /** Behind proxies every connection comes from one of them, so only the total is bounded. */
  readonly trustedProxies: number
}

/**
 * The most connections whose request has not arrived whole: nothing of it, or a part of its head or body. Honest
 * clients send it at once; of others the part that came is kept, up to a whole head and a whole body.
 */
const MAX_UNFINISHED = 250

/** The most connections that are open after their last answer, for a next request that may never come. */
const MAX_IDLE = 2_000

/** Part of all connections that may be unfinished, and idle, where there may be only a few. */
const UNFINISHED_PART = 1 / 5
const IDLE_PART = 1 / 2

/**
 * Bounds the connections of a server: in total, per network, and those for which there is nothing to do. One too many
 * is closed without an answer, because reading its request would cost what the bound is to save; of those for which
 * there is nothing to do it is the one that waits longest.
 */
export function boundConnections(
  server: Server,
  { maxConnections, connectionsPerIp, trustedProxies }: ConnectionBounds,
): void {
  server.maxConnections = maxConnections
  boundUnfinished(server, Math.min(MAX_UNFINISHED, Math.ceil(maxConnections * UNFINISHED_PART)))
  boundIdle(server, Math.min(MAX_IDLE, Math.ceil(maxConnections * IDLE_PART)))
  if (trustedProxies > 0) return
  const places = createNetworkPlaces(connectionsPerIp)
  server.on('connection', (socket: Socket) => {
    const free = places.take(networkOfSocket(socket))
    if (free === undefined) socket.destroy()
    else socket.once('close', free)
  })
}

/** Closes the connection that waits longest when the requests of more than `most` have not arrived whole. */
function boundUnfinished(server: Server, most: number): void {
  /** The connections, each with the request whose body is waited for; `undefined` while that is a head. */
  const unfinished = new Map<Socket, IncomingMessage | undefined>()
  const add = (socket: Socket, request?: IncomingMessage): void => {
    unfinished.set(socket, request)
    if (unfinished.size > most) for (const longest of unfinished.keys()) return close(longest)
  }
  const close = (socket: Socket): void => {
    unfinished.delete(socket)
    socket.destroy()
  }
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => unfinished.delete(socket))
    add(socket)
  })
  server.on('request', (request: IncomingMessage) => {
    const { socket } = request
    unfinished.delete(socket)
    if (!hasBody(request)) return
    // The end of a body that nobody reads is found too: Node reads it once the answer is sent.
    // Of requests that came together the first may end after the next has begun, which is still waited for.
    request.once('close', () => {
      if (unfinished.get(socket) === request) unfinished.delete(socket)
    })
    add(socket, request)
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => unfinished.delete(socket))
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Closes the connection that asked longest ago, and has its answer, when more than `most` are open that have asked. An
 * answer that its client does not take keeps no connection open. A listener on each answer would slow every request
 * down, so answers are looked at only when there are too many.
 */
function boundIdle(server: Server, most: number): void {
  const answers = new Map<Socket, ServerResponse>()
  server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    if (!answers.delete(socket)) socket.once('close', () => answers.delete(socket))
    answers.set(socket, answer)
    if (answers.size > most) closeLongestIdle(answers)
  })
  server.on('upgrade', ({ socket }: IncomingMessage) => answers.delete(socket))
}

function closeLongestIdle(answers: Map<Socket, ServerResponse>): void {
  for (const [socket, { writableEnded }] of answers) {
    if (!writableEnded) continue
    answers.delete(socket)
    socket.destroy()
    return
  }
}

/** Returns the network at the other end of a connection, whatever its requests say. */
export function networkOfSocket({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return networkOf(clientIp({ socketAddress: remoteAddress, forwardedFor: undefined, trustedProxies: 0 }))
}
