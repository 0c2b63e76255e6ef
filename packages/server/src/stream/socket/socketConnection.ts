import type { Socket } from 'node:net'
import { ApiError, CLOSE_CODES, type ChainSlug } from '@bezel/protocol'
import type { WebSocket } from 'ws'
import type { StreamBounds } from '../bounds.ts'
import type { Connection } from '../connection.ts'
import { textFrame } from './frames.ts'
import { createOnceDrained } from './onceDrained.ts'
import type { Dialect } from './socketKind.ts'

/** A socket as the server of the stream holds it. */
export interface SocketConnection extends Connection {
  /** Says why, closes, and reads nothing more: what else the other end sends costs nothing. */
  cut(code: number, error: ApiError): void
  /** Ends it without a word. */
  terminate(): void
  /** What we closed it with; `undefined` while we did not. */
  readonly closeCode: number | undefined
  /** How many bytes have left, or `undefined` when none wait. */
  bytesLeft(): number | undefined
}

export interface SocketConnectionOptions {
  readonly chain: ChainSlug
  readonly bounds: Pick<StreamBounds, 'maxQueuedLatestBytes' | 'maxQueuedLogBytes'>
  readonly onLapse: () => void
  readonly errorText: Dialect['errorText']
}

/**
 * All messages are written here, as ready frames straight to the TCP socket, so that they keep their order; the library keeps to reading and to
 * the closing handshake.
 */
export function createSocketConnection(
  webSocket: WebSocket,
  socket: Socket,
  { chain, bounds, onLapse, errorText }: SocketConnectionOptions,
): SocketConnection {
  const onceDrained = createOnceDrained(socket)
  let closeCode: number | undefined
  const isOpen = (): boolean => webSocket.readyState === webSocket.OPEN
  const isBehind = (): boolean => socket.writableLength > bounds.maxQueuedLatestBytes

  function close(code: number, reason: string): void {
    if (!isOpen()) return
    closeCode = code
    webSocket.close(code, reason)
  }

  function cut(code: number, error: ApiError): void {
    if (!isOpen()) return
    socket.write(textFrame(errorText(error)))
    close(code, '')
    // Nothing is read any more, the other end's own goodbye neither, so this end has to hang up.
    webSocket.pause()
    socket.end()
  }

  function sendFrame(frame: Buffer): void {
    if (!isOpen()) return
    if (socket.writableLength <= bounds.maxQueuedLogBytes) socket.write(frame)
    else cut(CLOSE_CODES.rateLimited, tooSlow(bounds.maxQueuedLogBytes))
  }

  function send(text: string): void {
    if (isOpen()) sendFrame(textFrame(text))
  }

  const connection: SocketConnection = {
    chain,
    caller: undefined,
    get isOpen() {
      return isOpen()
    },
    get isBehind() {
      return isBehind()
    },
    get closeCode() {
      return closeCode
    },
    send,
    sendFrame,
    offer(frame) {
      if (!isOpen() || isBehind()) return false
      socket.write(frame)
      return true
    },
    onDrain: (listener) => onceDrained(() => void (isOpen() && listener())),
    refuse: (error) => send(errorText(error)),
    lapse(error) {
      connection.refuse(error)
      connection.caller = undefined
      onLapse()
    },
    close,
    cut,
    terminate: () => webSocket.terminate(),
    bytesLeft: () => (socket.writableLength === 0 ? undefined : socket.bytesWritten - socket.writableLength),
  }
  return connection
}

function tooSlow(maxBytes: number): ApiError {
  return new ApiError(
    'RATE_LIMITED',
    `More than ${maxBytes} bytes wait to be read on this socket; connect again and resume.`,
  )
}
