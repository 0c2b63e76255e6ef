import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '@bezel/protocol'
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws'
import { REQUEST_ID_HEADER, requestIdOf } from '../../access/requestId.ts'
import { MAX_BUFFERED_CHUNKS, MAX_FRAGMENTS, type StreamBounds } from '../bounds.ts'

/** An upgrade request, as the server hands it over. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** What came right behind the request. */
  readonly head: Buffer
}

/** Completes the handshake. Throws `VALIDATION_ERROR` when the request is none. */
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
  // Heard, it is not answered by the library, which would do so in a shape of its own.
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
