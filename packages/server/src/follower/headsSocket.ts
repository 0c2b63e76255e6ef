import { WebSocket } from 'ws'
import { reconnectDelayMs } from '../ground/reconnectDelay.ts'

/** A node's word that there is a new block. */
export interface HeadsSocket {
  /** Whether it can be relied on now; else the node has to be asked. */
  isUp(): boolean
  close(): void
}

export interface HeadsSocketOptions {
  readonly url: string
  /** In [0, 1). */
  readonly random: () => number
  readonly onHead: () => void
}

const HANDSHAKE_TIMEOUT_MS = 5_000
/** A header has 2 KB. */
const MAX_MESSAGE_BYTES = 1_000_000
/** A quiet chain says nothing, so a dead connection is found by asking it. */
const PING_MS = 5_000

/** Subscribes to new heads, and again for ever after each loss, until it is closed. What a head says is not read: it only wakes. */
export function openHeadsSocket({ url, random, onHead }: HeadsSocketOptions): HeadsSocket {
  let attempt = 0
  let isUp = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let socket = connect()

  function connect(): WebSocket {
    const opened = new WebSocket(url, {
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    })
    let isAlive = true
    const ping = setInterval(() => {
      if (!isAlive) return opened.terminate()
      isAlive = false
      if (opened.readyState === WebSocket.OPEN) opened.ping()
    }, PING_MS)
    opened.on('pong', () => (isAlive = true))
    opened.on('open', () => {
      isAlive = true
      opened.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}')
    })
    opened.on('message', (data) => {
      isAlive = true
      if (!isHeadOrAnswer(String(data))) return opened.terminate()
      isUp = true
      attempt = 0
      onHead()
    })
    // What went wrong is followed by 'close'; without a listener it would end the process.
    opened.on('error', () => undefined)
    opened.on('close', () => {
      clearInterval(ping)
      isUp = false
      if (isClosed) return
      timer = setTimeout(() => (socket = connect()), reconnectDelayMs(attempt, random()))
      attempt += 1
    })
    return opened
  }

  return {
    isUp: () => isUp,
    close() {
      isClosed = true
      clearTimeout(timer)
      socket.terminate()
    },
  }
}

/** A node that refuses the subscription says so with an error: then it is polled. */
function isHeadOrAnswer(text: string): boolean {
  try {
    const message = JSON.parse(text) as { readonly error?: unknown } | null
    return typeof message === 'object' && message !== null && message.error === undefined
  } catch {
    return false
  }
}
