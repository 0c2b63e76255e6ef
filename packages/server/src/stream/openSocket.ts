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
  readonly bounds: StreamBounds
  readonly counts: StreamCounts
  readonly now: () => number
  readonly toApiError: (error: unknown) => ApiError
  /** `code`: what it was closed with, by us or by the client. */
  readonly onClose: (pulse: Pulse, code: number) => void
}

const TOO_LARGE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'

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
  const pulse = createPulse(connection, performance.now(), bounds)
  let isTooLarge = false

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
  webSocket.on('error', (error: NodeJS.ErrnoException) => (isTooLarge ||= error.code === TOO_LARGE))
  webSocket.on('close', (code) => {
    session.close()
    context.onClose(pulse, connection.closeCode ?? (isTooLarge ? CLOSE_CODES.tooLarge : code))
  })

  connection.send(helloMessage(chain.slug, bounds.heartbeatMs))
  if (caller !== undefined) {
    connection.caller = caller
    connection.send(authenticatedMessage(caller))
  }
  return pulse
}

function tooManyMessages({ maxMessagesPerSecond }: StreamBounds): ApiError {
  return new ApiError('RATE_LIMITED', `A client sends at most ${maxMessagesPerSecond} messages in a second.`)
}

function notText(): ApiError {
  return new ApiError('VALIDATION_ERROR', 'Messages are JSON in text frames; binary ones are not understood.')
}
