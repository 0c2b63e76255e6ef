import type { IncomingMessage, Server } from 'node:http'
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
 * Part of all connections that may wait for their first request. Honest clients send it at once, and each that waits
 * costs about 9 KB, so this bounds what connections cost that never ask.
 */
const WAITING_PART = 1 / 5

/**
 * Bounds the connections of a server: in total, per network, and those that have not asked anything yet. One too many
 * is closed without an answer, because reading its request would cost what the bound is to save; of those that have not
 * asked it is the one that waits longest.
 */
export function boundConnections(
  server: Server,
  { maxConnections, connectionsPerIp, trustedProxies }: ConnectionBounds,
): void {
  server.maxConnections = maxConnections
  boundWaiting(server, Math.ceil(maxConnections * WAITING_PART))
  if (trustedProxies > 0) return
  const places = createNetworkPlaces(connectionsPerIp)
  server.on('connection', (socket: Socket) => {
    const free = places.take(networkOfSocket(socket))
    if (free === undefined) socket.destroy()
    else socket.once('close', free)
  })
}

/** Closes the connection that waits longest for its first request when more than `most` wait. */
function boundWaiting(server: Server, most: number): void {
  const waiting = new Set<Socket>()
  const asked = ({ socket }: IncomingMessage): void => void waiting.delete(socket)
  server.on('connection', (socket: Socket) => {
    waiting.add(socket)
    socket.once('close', () => waiting.delete(socket))
    if (waiting.size <= most) return
    for (const longest of waiting) return void longest.destroy()
  })
  server.on('request', asked)
  server.on('upgrade', asked)
}

/** Returns the network at the other end of a connection, whatever its requests say. */
export function networkOfSocket({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return networkOf(clientIp({ socketAddress: remoteAddress, forwardedFor: undefined, trustedProxies: 0 }))
}
