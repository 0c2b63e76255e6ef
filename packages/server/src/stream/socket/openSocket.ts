import type { Socket } from 'node:net'
import { ApiError, CLOSE_CODES } from '@bezel/protocol'
import type { WebSocket } from 'ws'
import type { StreamBounds } from '../bounds.ts'
import { pongFrame } from './frames.ts'
import { createPulse, type Pulse } from './heartbeat.ts'
import { createSocketConnection } from './socketConnection.ts'
import type { SocketKind, Visit } from './socketKind.ts'

export interface SocketContext {
  readonly kind: SocketKind
  readonly visit: Visit
  /** `code`: what it was closed with, by us or by the client. */
  readonly onClose: (pulse: Pulse, code: number) => void
}

/** What the library closes a socket with when it can't read on. It reports all of them as 1006; every other fault of a frame is 1002. */
const FAULT_CODES: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: 1007,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 1008,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: CLOSE_CODES.tooLarge,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: CLOSE_CODES.tooLarge,
}
const PROTOCOL_ERROR = 1002

/** Greets a client, and listens to it until its socket is closed. */
export function openSocket(webSocket: WebSocket, socket: Socket, context: SocketContext): Pulse {
  const { kind, visit } = context
  const { bounds } = kind
  const connection = createSocketConnection(webSocket, socket, {
    chain: visit.chain.slug,
    bounds,
    errorText: kind.dialect.errorText,
    onLapse: () => session.lapse(),
  })
  const session = kind.openSession(connection, visit)
  const rate = kind.createRate()
  const pulse = createPulse({ connection, session }, performance.now(), bounds)
  let faultCode: number | undefined

  /** A sign of life, whatever it says. False when nothing more is to be heard. */
  function hear(): boolean {
    if (!connection.isOpen) return false
    pulse.heardAtMs = performance.now()
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

/** `undefined` when the connection broke, and no frame was wrong. */
function faultCodeOf({ code = '' }: NodeJS.ErrnoException): number | undefined {
  return code.startsWith('WS_ERR_') ? (FAULT_CODES[code] ?? PROTOCOL_ERROR) : undefined
}

function tooManyMessages({ maxMessagesPerSecond }: StreamBounds): ApiError {
  return new ApiError('RATE_LIMITED', `A client sends at most ${maxMessagesPerSecond} messages in a second.`)
}

function notText(): ApiError {
  return new ApiError('VALIDATION_ERROR', 'Messages are JSON in text frames; binary ones are not understood.')
}
