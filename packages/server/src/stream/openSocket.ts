import type { Socket } from 'node:net'
import { ApiError, CLOSE_CODES } from '@bezel/protocol'
import type { WebSocket } from 'ws'
import type { ServedChain } from '../chain/servedChain.ts'
import type { Caller } from '../http/caller.ts'
import type { AuthMessage } from './auth.ts'
import type { StreamBounds } from './bounds.ts'
import type { Channels } from './channel.ts'
import { authenticatedMessage, helloMessage } from './controlMessages.ts'
import { pongFrame } from './frames.ts'
import { createPulse, type Pulse } from './heartbeat.ts'
import { createMessageRate } from './messageRate.ts'
import { openSession } from './session.ts'
import { createSocketConnection } from './socketConnection.ts'
import type { StreamCounts } from './streamCounts.ts'

export interface SocketContext {
  readonly chain: ServedChain
  readonly channels: Channels
  /** Known when the upgrade carried credentials. */
  readonly caller: Caller | undefined
  readonly authenticate: (message: AuthMessage) => Promise<Caller>
  readonly lapseOf: (caller: Caller) => ApiError | undefined
  readonly bounds: StreamBounds
  readonly counts: StreamCounts
  readonly now: () => number
  readonly toApiError: (error: unknown) => ApiError
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
  const { chain, caller, bounds } = context
  const connection = createSocketConnection(webSocket, socket, {
    chain: chain.slug,
    bounds,
    onLapse: () => session.lapse(),
  })
  const session = openSession({ ...context, connection })
  const rate = createMessageRate(bounds.maxMessagesPerSecond)
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

  connection.send(helloMessage(chain.slug, bounds.heartbeatMs))
  if (caller !== undefined) {
    connection.caller = caller
    connection.send(authenticatedMessage(caller))
  }
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
