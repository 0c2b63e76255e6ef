import { WebSocket } from 'ws'
import { every } from '../ground/every.ts'
import { backoffMs } from '../ground/backoff.ts'
import { parseHeadMessage, type PushedHead } from './pushedHeads.ts'

/** A subscription to a node's new blocks. */
interface HeadsSocket {
  /** Returns true while the subscription works; otherwise the node has to be polled. */
  isUp(): boolean
  /** Ends the connection, on which nothing comes any more, and tries the next address. */
  reconnect(): void
  close(): void
}

interface HeadsSocketOptions {
  /** Addresses of the chain's nodes, the preferred one first. After each loss the next one is tried. */
  readonly urls: readonly string[]
  /** Returns a random number in [0, 1), for the jitter of the backoff. */
  readonly random: () => number
  /** Called with every head, and with an unreadable one once the subscription works. */
  readonly onHead: (head: PushedHead) => void
}

const HANDSHAKE_TIMEOUT_MS = 5_000
/** Maximum size of one message. A block header has about 2 KB. */
const MAX_MESSAGE_BYTES = 1_000_000
/** Interval of pings. A quiet chain sends no messages, so only a missing pong shows that the connection is dead. */
const PING_MS = 5_000

/**
 * Subscribes to new heads and, until it is closed, subscribes again after each loss with backoff.
 */
export function openHeadsSocket({ urls, random, onHead }: HeadsSocketOptions): HeadsSocket {
  let attempt = 0
  let losses = 0
  let isUp = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let socket = connect()

  function connect(): WebSocket {
    const opened = new WebSocket(urls[losses % urls.length]!, {
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
      const head = parseHeadMessage(String(data))
      if (head === undefined) return opened.terminate()
      isUp = true
      attempt = 0
      onHead(head)
    })
    // A 'close' event follows every error; without this listener an error would end the process.
    opened.on('error', () => undefined)
    opened.on('close', () => {
      void pings.close()
      isUp = false
      if (isClosed) return
      timer = setTimeout(() => (socket = connect()), backoffMs(attempt, random()))
      attempt += 1
      losses += 1
    })
    return opened
  }

  return {
    isUp: () => isUp,
    reconnect: () => socket.terminate(),
    close() {
      isClosed = true
      clearTimeout(timer)
      socket.terminate()
    },
  }
}
