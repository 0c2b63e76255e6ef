import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, CLOSE_CODES } from '@bezel/protocol'
import type { FastifyBaseLogger, FastifyError } from 'fastify'
import type { WebSocket } from 'ws'
import type { ServedChain } from '../../chain/servedChain.ts'
import { type LimitAnswer, requireAllowed } from '../../access/limits.ts'
import { toApiError, REQUEST_ID_HEADER, requestIdOf } from '../../access/answerError.ts'
import { notReady } from '../../ground/unavailable.ts'
import { DEFAULT_BOUNDS, type StreamBounds } from '../bounds.ts'
import { closeSockets, startHeartbeat, type HeartbeatOptions, type Pulse, createPulse } from './heartbeat.ts'
import {
  createHandshake,
  type Handshake,
  type Upgrade,
  createIpCharge,
  type IpChargeOptions,
  createPlaces,
  admit,
  isWebSocketUpgrade,
  type Admitted,
  refuseUpgrade,
} from './upgrade.ts'
import type { SocketKind, Visit } from './socketKind.ts'
import type { StreamCounts } from '../streamCounts.ts'
import { pongFrame } from './frames.ts'
import { createSocketConnection } from './socketConnection.ts'

export interface ServeStreamOptions extends IpChargeOptions {
  readonly chains: readonly ServedChain[]
  /**
   * The kinds of sockets that are served, each on its own path. In metrics an upgrade at any other path counts as the
   * first kind.
   */
  readonly kinds: readonly SocketKind[]
  readonly counts: StreamCounts
  readonly metrics: {
    answered(of: { readonly operation: string; readonly status: number; readonly elapsedMs: number }): void
    rateLimited(scope: LimitAnswer['scope']): void
  }
  readonly log: Pick<FastifyBaseLogger, 'info' | 'error'>
  /** A clock in milliseconds that never goes back. Default `performance.now`. */
  readonly clock?: () => number
  /** The limits on all sockets together. Default `DEFAULT_BOUNDS`. */
  readonly bounds?: Pick<StreamBounds, 'maxSockets' | 'maxSocketsPerIp'>
  /** Time over which `close` spreads the closes of the sockets. Default 0. */
  readonly stopSpreadMs?: number
}

/** The WebSockets of a server. */
export interface ServedStream {
  /**
   * Refuses new sockets, closes all others, and resolves when the last one is gone. Must be called before the server is
   * closed.
   */
  close(): Promise<void>
  /** Closes all sockets, whose clients connect again and read on. */
  disconnect(): void
}

/** All sockets of one kind. */
interface Room {
  readonly handshake: Handshake
  readonly pulses: Set<Pulse>
  readonly heartbeat: { close(): void }
}

/** Close codes that get their own label in the metrics. A client may send any other number. */
const TOLD_CODES: ReadonlySet<number> = new Set([...Object.values(CLOSE_CODES), 1001, 1002, 1005, 1006, 1007, 1008])

/** Serves WebSockets on an HTTP server. */
export function serveStream(server: Server, options: ServeStreamOptions): ServedStream {
  const { counts, kinds, log, now, clock = () => performance.now(), bounds = DEFAULT_BOUNDS } = options
  const { stopSpreadMs = 0 } = options
  const ipCharge = createIpCharge(options)
  const admission = { ...options, ipCharge, places: createPlaces(bounds) }
  const rooms = new Map(kinds.map((kind) => [kind, openRoom(kind, { now, clock })]))
  let isClosing = false

  async function onUpgrade(upgrade: Upgrade): Promise<void> {
    const { request, socket } = upgrade
    const startMs = clock()
    // From here on the headers carry the id that is logged, also when the client sent none.
    const requestId = (request.headers[REQUEST_ID_HEADER] = requestIdOf(request))
    let limitAnswer: LimitAnswer | undefined
    let status = 101
    let code: string | undefined
    let operation = kinds[0]!.operation
    // A client that disconnects meanwhile is no error, and without a listener it would end the process.
    socket.on('error', ignore)
    try {
      const admitted = await admit(request, socket, admission, (answer) => (limitAnswer = answer))
      operation = admitted.kind.operation
      if (isClosing) throw notReady('stopping')
      const room = rooms.get(admitted.kind)!
      room.handshake(upgrade, (webSocket) => open(webSocket, socket, contextOf(admitted, requestId)))
    } catch (error) {
      const refusal = tellableError(options, error, requestId)
      ;({ status, code } = refusal)
      if (limitAnswer?.isAllowed === false) options.metrics.rateLimited(limitAnswer.scope)
      refuseUpgrade(socket, refusal, { url: request.url ?? '', requestId, limitAnswer, nowMs: now() })
    }
    const elapsedMs = clock() - startMs
    options.metrics.answered({ operation, status, elapsedMs })
    log.info({ requestId, method: request.method, operation, status, code, ms: elapsedMs }, 'answered')
  }

  function open(webSocket: WebSocket, socket: Socket, context: SocketContext): void {
    socket.off('error', ignore)
    counts.sockets += 1
    rooms.get(context.kind)!.pulses.add(openSocket(webSocket, socket, context))
  }

  function contextOf({ kind, chain, network, caller }: Admitted, requestId: string): SocketContext {
    const openedMs = clock()
    return {
      kind,
      clock,
      requestId,
      visit: {
        chain,
        caller,
        network,
        charge: async (weight) => requireAllowed(await ipCharge.take(network, weight)),
        toApiError: (error) => tellableError(options, error, requestId),
      },
      onClose(pulse, code) {
        rooms.get(kind)!.pulses.delete(pulse)
        countClose(counts, code)
        log.info({ requestId, chain: chain.slug, closeCode: code, ms: clock() - openedMs }, 'socket closed')
      },
    }
  }

  server.on('upgrade', (request, socket, head) => void onUpgrade({ request, socket: socket as Socket, head }))
  Object.assign(server, { shouldUpgradeCallback: isWebSocketUpgrade })
  return {
    disconnect: () => rooms.forEach(({ pulses }) => disconnectAll(pulses)),
    async close() {
      isClosing = true
      await Promise.all([...rooms.values()].map(({ pulses }) => closeSockets(pulses, stopSpreadMs)))
      for (const { heartbeat } of rooms.values()) heartbeat.close()
    },
  }
}

function disconnectAll(pulses: ReadonlySet<Pulse>): void {
  for (const { connection } of pulses) connection.close(CLOSE_CODES.shutdown, 'reload')
}

function openRoom({ bounds, dialect }: SocketKind, clocks: Pick<HeartbeatOptions, 'now' | 'clock'>): Room {
  const pulses = new Set<Pulse>()
  const heartbeat = startHeartbeat(pulses, { bounds, dialect, ...clocks })
  return { handshake: createHandshake(bounds), pulses, heartbeat }
}

function tellableError({ log }: Pick<ServeStreamOptions, 'log'>, error: unknown, requestId: string): ApiError {
  const refusal = toApiError(error as FastifyError, requestId)
  if (refusal.code === 'INTERNAL') log.error({ requestId, err: error }, 'request failed')
  return refusal
}

function countClose(counts: StreamCounts, code: number): void {
  const label = TOLD_CODES.has(code) ? String(code) : 'other'
  counts.sockets -= 1
  counts.closed.set(label, (counts.closed.get(label) ?? 0) + 1)
}

function ignore(): void {
  // The client is gone, so there is nobody to report the error to.
}

interface SocketContext {
  readonly kind: SocketKind
  readonly requestId: string
  readonly visit: Visit
  /** A clock in milliseconds that never goes back. */
  readonly clock: () => number
  /** Called after the close. `code` is the close code, sent by the service or by the client. */
  readonly onClose: (pulse: Pulse, code: number) => void
}

/**
 * Close codes that the WebSocket library sends when it can't read on. It reports all of them as 1006. Every other fault
 * of a frame is 1002.
 */
const FAULT_CODES: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: CLOSE_CODES.tooLarge,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: CLOSE_CODES.tooLarge,
}

const PROTOCOL_ERROR = 1002

/** Opens the session of a client, which greets it, and passes on its messages until its socket is closed. */
function openSocket(webSocket: WebSocket, socket: Socket, context: SocketContext): Pulse {
  const { kind, visit, clock } = context
  const { bounds } = kind
  const connection = createSocketConnection(webSocket, socket, {
    chain: visit.chain.slug,
    bounds,
    errorText: (error, about) => kind.dialect.errorText(error, context.requestId, about),
    onLapse: () => session.lapse(),
  })
  const session = kind.openSession(connection, visit)
  const rate = kind.createRate()
  const pulse = createPulse({ connection, session }, clock(), bounds)
  let faultCode: number | undefined

  /** Records any message as a sign of life. Returns false when no further message is processed. */
  function hear(): boolean {
    if (!connection.isOpen) return false
    pulse.heardAtMs = clock()
    if (rate.isWithin(pulse.heardAtMs)) return true
    connection.cut(CLOSE_CODES.rateLimited, tooManyMessages(bounds))
    return false
  }

  webSocket.on('message', (bytes: Buffer, isBinary) => {
    if (!hear()) return
    if (!isBinary) return session.receive(bytes)
    connection.refuse(notText())
    connection.close(CLOSE_CODES.binary, 'binary')
  })
  webSocket.on('ping', (bytes) => {
    if (hear()) connection.offer(pongFrame(bytes))
  })
  webSocket.on('pong', hear)
  // The library closes the socket itself after a protocol error; without a listener the error would end the process.
  webSocket.on('error', (error: NodeJS.ErrnoException) => (faultCode ??= faultCodeOf(error)))
  webSocket.on('close', (code) => {
    session.close()
    context.onClose(pulse, connection.closeCode ?? faultCode ?? code)
  })
  return pulse
}

/** Returns the close code of a faulty frame; `undefined` when the connection broke without one. */
function faultCodeOf({ code = '' }: NodeJS.ErrnoException): number | undefined {
  return code.startsWith('WS_ERR_') ? (FAULT_CODES[code] ?? PROTOCOL_ERROR) : undefined
}

function tooManyMessages({ maxMessagesPerSecond }: StreamBounds): ApiError {
  return new ApiError('RATE_LIMITED', `A client sends at most ${maxMessagesPerSecond} messages in a second.`)
}

function notText(): ApiError {
  return new ApiError('VALIDATION_ERROR', 'Messages are JSON in text frames; binary ones are not understood.')
}
