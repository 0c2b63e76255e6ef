import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@bezel/protocol'
import { type ServedChain, servedChainOf } from '../../chain/servedChain.ts'
import { createNetworkPlaces } from '../../access/connections.ts'
import { ipBuckets, type LimitAnswer, requireAllowed, type Limits, LIMIT_WINDOW_MS } from '../../access/limits.ts'
import type { Caller } from '../../access/caller.ts'
import type { SocketKind } from './socketKind.ts'
import { type StreamBounds, MAX_BUFFERED_CHUNKS, MAX_FRAGMENTS } from '../bounds.ts'
import { clientIp, networkOf } from '../../access/ipAddress.ts'
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws'
import { REQUEST_ID_HEADER, requestIdOf, facadeRefusal } from '../../access/answerError.ts'

/** An upgrade request as the HTTP server passes it on. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** The bytes that came right behind the request. */
  readonly head: Buffer
}

/** A client whose upgrade is allowed. */
export interface Admitted {
  readonly kind: SocketKind
  readonly chain: ServedChain
  readonly network: string
  readonly caller: Caller | undefined
}

export interface AdmissionOptions {
  readonly chains: readonly ServedChain[]
  readonly kinds: readonly SocketKind[]
  readonly ipCharge: IpCharge
  readonly places: Places
}

/**
 * Checks an upgrade, the cheapest checks first. The IP is charged before anything else, and `onCharge` receives the
 * result. Throws an `ApiError`.
 */
export async function admit(
  request: IncomingMessage,
  socket: Socket,
  options: AdmissionOptions,
  onCharge: (answer: LimitAnswer) => void,
): Promise<Admitted> {
  const network = options.ipCharge.networkOf(request)
  const answer = await options.ipCharge.take(network)
  onCharge(answer)
  requireAllowed(answer)
  const { kind, chain } = placeOf(request.url ?? '', options)
  // The place is given back by the socket's `close` event, which a destroyed socket may already have emitted.
  if (socket.destroyed) throw new ApiError('VALIDATION_ERROR', 'The client has gone.')
  options.places.take(network, socket)
  return { kind, chain, network, caller: await kind.authenticateUpgrade(chain, request) }
}

function placeOf(
  url: string,
  { kinds, chains }: Pick<AdmissionOptions, 'kinds' | 'chains'>,
): { kind: SocketKind; chain: ServedChain } {
  for (const kind of kinds) {
    const [, slug] = kind.path.exec(url) ?? []
    if (slug !== undefined) return { kind, chain: servedChainOf(chains, slug) }
  }
  throw new ApiError('NOT_FOUND', 'There is no WebSocket here; it is at /v1/{chain}/ws.')
}

/**
 * Returns true for WebSocket upgrades. Other protocols that a client offers (mostly HTTP/2) are ignored, and its
 * request is answered in HTTP.
 */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.trim().toLowerCase() === 'websocket'
}

/** Limits the number of sockets, in total and per network. */
interface Places {
  /** Takes a place until the socket is closed. Throws `NOT_READY` or `RATE_LIMITED` when there is none. */
  take(network: string, socket: Socket): void
}

export function createPlaces({
  maxSockets,
  maxSocketsPerIp,
}: Pick<StreamBounds, 'maxSockets' | 'maxSocketsPerIp'>): Places {
  const ofNetworks = createNetworkPlaces(maxSocketsPerIp)
  let taken = 0

  return {
    take(network, socket) {
      const free = ofNetworks.take(network)
      if (free === undefined) throw tooManyOfIp(maxSocketsPerIp)
      if (taken >= maxSockets) {
        free()
        throw full()
      }
      taken += 1
      socket.once('close', () => {
        free()
        taken -= 1
      })
    },
  }
}

function tooManyOfIp(max: number): ApiError {
  return new ApiError('RATE_LIMITED', `An IP has at most ${max} sockets; close one first.`, { scope: 'ip' })
}

function full(): ApiError {
  return new ApiError('NOT_READY', 'All sockets of this service are in use. Retry.', { reason: 'sockets_in_use' })
}

/** The request limit of an IP, which upgrades and `auth` messages are charged to as well. */
interface IpCharge {
  /** Returns the network that a request is charged to. */
  networkOf(request: IncomingMessage): string
  take(network: string, weight?: number): LimitAnswer | Promise<LimitAnswer>
}

export interface IpChargeOptions {
  readonly limits: Limits
  /** Allowed requests per minute. */
  readonly ipLimit: number
  readonly trustedProxies: number
  readonly now: () => number
}

export function createIpCharge({ limits, ipLimit, trustedProxies, now }: IpChargeOptions): IpCharge {
  return {
    networkOf: ({ socket, headers }) =>
      networkOf(
        clientIp({
          socketAddress: socket.remoteAddress,
          forwardedFor: headers['x-forwarded-for'],
          trustedProxies,
        }),
      ),
    take: (network, weight) => limits.take(ipBuckets(network, ipLimit), now(), weight),
  }
}

/** Completes the handshake. Throws `VALIDATION_ERROR` when the request is not a valid one. */
export type Handshake = (upgrade: Upgrade, onOpen: (webSocket: WebSocket) => void) => void

export function createHandshake(bounds: StreamBounds): Handshake {
  const webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: bounds.maxMessageBytes,
    closeTimeout: bounds.closeWaitMs,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_BUFFERED_CHUNKS,
  } as ServerOptions)
  const faults: Error[] = []
  // With a listener, the library does not answer the request itself, in a format of its own.
  webSockets.on('wsClientError', (error) => faults.push(error))
  webSockets.on('headers', (headers, request) => {
    headers.push(`${REQUEST_ID_HEADER}: ${requestIdOf(request)}`)
  })

  return ({ request, socket, head }, onOpen) => {
    webSockets.handleUpgrade(request, socket, head, onOpen)
    const fault = faults.pop()
    if (fault !== undefined) throw new ApiError('VALIDATION_ERROR', `This is no WebSocket handshake: ${fault.message}.`)
  }
}

/** The data that the answer to a refused upgrade needs beside the error. */
interface RefusalContext {
  readonly url: string
  readonly requestId: string
  /** The result of charging the IP; `undefined` before it was charged. */
  readonly limitAnswer: LimitAnswer | undefined
  readonly nowMs: number
}

/** Seconds after which a client may retry. The service is mostly ready within moments. */
const NOT_READY_RETRY_S = 1

/** Path prefix under which errors are plain text. */
const FACADE_PREFIX = '/hl/'

/** Answers in HTTP, in the error format of the path, and ends the connection. */
export function refuseUpgrade(socket: Socket, error: ApiError, context: RefusalContext): void {
  if (!socket.writable) return void socket.destroy()
  const { status, type, body } = answerOf(error, context)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${type}; charset=utf-8`,
    `content-length: ${Buffer.byteLength(body)}`,
    `${REQUEST_ID_HEADER}: ${context.requestId}`,
    ...limitHeaders(context.limitAnswer),
    ...retryHeaders(error, context),
    'sec-websocket-version: 13',
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

function answerOf(error: ApiError, { url, requestId }: RefusalContext): { status: number; type: string; body: string } {
  if (!url.startsWith(FACADE_PREFIX) || error.status >= 500) {
    return { status: error.status, type: 'application/json', body: JSON.stringify(error.toBody(requestId)) }
  }
  const { status, text } = facadeRefusal(error)
  return { status, type: 'text/plain', body: text }
}

function limitHeaders(answer: LimitAnswer | undefined): string[] {
  if (answer === undefined) return []
  return [
    `RateLimit-Limit: ${answer.limit}`,
    `RateLimit-Remaining: ${answer.remaining}`,
    `RateLimit-Reset: ${answer.resetSeconds}`,
  ]
}

function retryHeaders({ code }: ApiError, { limitAnswer, nowMs }: RefusalContext): string[] {
  if (code === 'NOT_READY') return [`Retry-After: ${NOT_READY_RETRY_S}`]
  if (code !== 'RATE_LIMITED') return []
  const untilWindowEndsMs = LIMIT_WINDOW_MS - (nowMs % LIMIT_WINDOW_MS)
  return [`Retry-After: ${limitAnswer?.resetSeconds ?? Math.ceil(untilWindowEndsMs / 1000)}`]
}
