/** The part of a WebSocket that the stream needs. Those of browsers, of node and of the package `ws` have it. */
export interface WebSocketLike {
  /** Sends a text message. */
  send(text: string): void
  /** Closes the connection. */
  close(code?: number): void
  /** Ends the connection without a closing handshake. Only the sockets of `ws` have it. */
  terminate?(): void
  /** Listens to messages, to the end, or to errors. */
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
  /** Listens to messages, to the end, or to errors. */
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void
  /** Listens to messages, to the end, or to errors. */
  addEventListener(type: 'error', listener: (event: unknown) => void): void
}

/** A WebSocket class. */
export type WebSocketClass = new (url: string) => WebSocketLike

/** A socket, from the first attempt to connect until its end. */
export interface Socket {
  send(message: object): void
  /** Closes the socket. `onClose` is not called. */
  close(): void
}

export interface SocketOptions {
  readonly url: string
  readonly WebSocket: WebSocketClass
  /** Timeout from the attempt to the first message of the service. */
  readonly connectTimeoutMs: number
  /** Silence after which the service is pinged. After as much again the connection is given up. */
  readonly silenceMs: () => number
  readonly onMessage: (message: object) => void
  /** Called once when the socket ends, unless this side closed it. */
  readonly onClose: (reason: string) => void
  readonly now?: () => number
}

/** Checks of the clock within the allowed silence. */
const LOOKS = 4

const NORMAL = 1_000

/** Opens a socket and watches that it stays alive. */
export function openStreamSocket(options: SocketOptions): Socket {
  const { now = () => performance.now() } = options
  const socket = new options.WebSocket(options.url)
  let isOver = false
  let heardMs: number | undefined
  let pingedMs: number | undefined
  let timer = setTimeout(
    () => giveUp(`no answer within ${options.connectTimeoutMs / 1_000} s`),
    options.connectTimeoutMs,
  )

  function end(): void {
    isOver = true
    clearTimeout(timer)
  }

  /** Ends a dead connection at once: a closing handshake would keep it open for minutes. */
  function giveUp(reason: string): void {
    if (isOver) return
    end()
    if (socket.terminate === undefined) socket.close()
    else socket.terminate()
    options.onClose(reason)
  }

  function hear({ data }: { readonly data: unknown }): void {
    if (isOver) return
    const isFirst = heardMs === undefined
    heardMs = now()
    pingedMs = undefined
    const message = parseMessage(data)
    if (message === undefined) return giveUp('the service sent something that is no JSON object')
    options.onMessage(message)
    if (isFirst && !isOver) lookLater()
  }

  function lookLater(): void {
    clearTimeout(timer)
    timer = setTimeout(look, options.silenceMs() / LOOKS)
  }

  /**
   * Checks for a connection that died silently: a pulled cable, a machine that slept. It is pinged before it is given
   * up, because messages that a busy program has not read yet look like silence too.
   */
  function look(): void {
    const silenceMs = options.silenceMs()
    if (pingedMs !== undefined && now() - pingedMs >= silenceMs) {
      return giveUp(`nothing heard for ${Math.round((now() - heardMs!) / 1_000)} s`)
    }
    if (pingedMs === undefined && now() - heardMs! >= silenceMs) {
      pingedMs = now()
      send({ op: 'ping' })
    }
    lookLater()
  }

  function send(message: object): void {
    if (!isOver && heardMs !== undefined) socket.send(JSON.stringify(message))
  }

  socket.addEventListener('message', hear)
  socket.addEventListener('close', ({ code, reason }) => {
    if (isOver) return
    end()
    options.onClose(`closed with ${code}${reason === '' ? '' : ` (${reason})`}`)
  })
  // A close event with all details follows.
  socket.addEventListener('error', () => undefined)
  return {
    send,
    close() {
      if (isOver) return
      end()
      socket.close(NORMAL)
    },
  }
}

function parseMessage(data: unknown): object | undefined {
  try {
    const message = typeof data === 'string' ? (JSON.parse(data) as unknown) : undefined
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    return undefined
  }
}

/** Returns the WebSocket class of this browser or node; `undefined` before node 22. */
export function globalWebSocket(): WebSocketClass | undefined {
  return (globalThis as { readonly WebSocket?: WebSocketClass }).WebSocket
}
