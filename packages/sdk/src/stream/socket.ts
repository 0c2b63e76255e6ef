import type { WebSocketClass } from './webSocketClass.ts'

/** One connection, from its first attempt to its end. */
export interface Socket {
  send(message: object): void
  /** It ends at once for us; `onClose` is not called. */
  close(): void
}

export interface SocketOptions {
  readonly url: string
  readonly WebSocket: WebSocketClass
  /** From the attempt to the first word of the service. */
  readonly connectTimeoutMs: number
  /** Silence after which the service is asked whether it is still there; after as much again the connection is given up. */
  readonly silenceMs: () => number
  readonly onMessage: (message: object) => void
  /** Called once, unless it was closed by us. */
  readonly onClose: (reason: string) => void
  readonly now?: () => number
}

/** Looks at the clock so many times while the allowed silence lasts. */
const LOOKS = 4
const NORMAL = 1_000

export function openSocket(options: SocketOptions): Socket {
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

  /** A connection whose other end is gone would hold a closing handshake open for minutes. */
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
   * A connection can be dead without anybody saying so: a cable pulled, a machine that slept. It is given up only after it was asked, because what a
   * busy program has not come to read yet looks like silence, too.
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
  // A close follows, with all that is to be known.
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
