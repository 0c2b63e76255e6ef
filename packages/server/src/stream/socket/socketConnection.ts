import type { Socket } from 'node:net'
import { ApiError, CLOSE_CODES, type ChainSlug } from '@bezel/protocol'
import type { WebSocket } from 'ws'
import type { StreamBounds } from '../bounds.ts'
import type { Connection, MessageLabel } from '../channel.ts'
import { textFrame } from './frames.ts'

/** A socket with the operations that only the stream's server uses. */
export interface SocketConnection extends Connection {
  /**
   * Sends the error, closes the socket, and reads nothing more, so that further messages of the client cost nothing.
   */
  cut(code: number, error: ApiError): void
  /** Ends the connection without a close frame. */
  terminate(): void
  /** The close code that the service sent; `undefined` while it has not closed the socket. */
  readonly closeCode: number | undefined
  /** Returns the number of bytes that were sent; `undefined` when no bytes wait. */
  bytesLeft(): number | undefined
}

export interface SocketConnectionOptions {
  readonly chain: ChainSlug
  readonly bounds: Pick<StreamBounds, 'maxQueuedLatestBytes' | 'maxQueuedLogBytes'>
  readonly onLapse: () => void
  /** Formats an error in the message format of this socket kind. */
  readonly errorText: (error: ApiError, about?: MessageLabel) => string
}

/**
 * Creates the connection. All messages are written as finished frames directly to the TCP socket, so that they keep
 * their order; the WebSocket library only reads, and does the closing handshake.
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
    // The client's close frame is not read any more either, so the service ends the TCP connection.
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
    refuse: (error, about) => send(errorText(error, about)),
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

/**
 * Creates a function that calls listeners once, when all queued bytes are written. When few are queued the socket emits
 * no `drain`, and the listener is called in the next microtask.
 */
function createOnceDrained(socket: Socket): (listener: () => void) => void {
  const listeners: (() => void)[] = []

  function onDrained(): void {
    for (const listener of listeners.splice(0)) listener()
  }

  return (listener) => {
    if (!socket.writableNeedDrain) return queueMicrotask(listener)
    if (listeners.length === 0) socket.once('drain', onDrained)
    listeners.push(listener)
  }
}
