import { WebSocket } from 'ws'
import { every } from '../ground/every.ts'
import { backoffMs } from '../ground/backoff.ts'

/** A subscription to a node's new blocks. */
interface HeadsSocket {
  /** Returns true while the subscription works; otherwise the node has to be polled. */
  isUp(): boolean
  close(): void
}

interface HeadsSocketOptions {
  readonly url: string
  /** Returns a random number in [0, 1), for the jitter of the backoff. */
  readonly random: () => number
  readonly onHead: () => void
}

const HANDSHAKE_TIMEOUT_MS = 5_000
/** Maximum size of one message. A block header has about 2 KB. */
const MAX_MESSAGE_BYTES = 1_000_000
/** Interval of pings. A quiet chain sends no messages, so only a missing pong shows that the connection is dead. */
const PING_MS = 5_000

/**
 * Subscribes to new heads and, until it is closed, subscribes again after each loss with backoff. The content of a head
 * is not read: it only wakes the follower.
 */
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
    const pings = every(PING_MS, () => {
      if (!isAlive) return opened.terminate()
      isAlive = false
      if (opened.readyState === WebSocket.OPEN) opened.ping()
    })
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
    // A 'close' event follows every error; without this listener an error would end the process.
    opened.on('error', () => undefined)
    opened.on('close', () => {
      void pings.close()
      isUp = false
      if (isClosed) return
      timer = setTimeout(() => (socket = connect()), backoffMs(attempt, random()))
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

/**
 * Returns true for a new head or a successful answer. A node that refuses the subscription answers with an error; then
 * it is polled.
 */
function isHeadOrAnswer(text: string): boolean {
  try {
    const message = JSON.parse(text) as { readonly error?: unknown } | null
    return typeof message === 'object' && message !== null && message.error === undefined
  } catch {
    return false
  }
}
