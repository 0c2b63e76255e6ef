import { WebSocket } from 'ws'

/** The end of listening to a socket. */
type Heard<Found> =
  | { readonly kind: 'found'; readonly found: Found; readonly elapsedMs: number }
  /** The time was over; `isOpen` is false when not even the connection was there. */
  | { readonly kind: 'silent'; readonly isOpen: boolean }
  | { readonly kind: 'closed'; readonly words: string }

interface ListenOptions<Found> {
  readonly url: string
  /** The message to send once the socket is open. */
  readonly greeting?: string
  /** The longest time to wait, in ms. */
  readonly waitMs: number
  /** Returns what is looked for when a message has it. */
  readonly look: (text: string) => Found | undefined
}

/** Time limit of the handshake. */
const HANDSHAKE_TIMEOUT_MS = 5_000

/** The most bytes of a message: a frame of prices of all pairs has 20 KB. */
const MAX_MESSAGE_BYTES = 1_000_000

/** Connects and listens until a message has what is looked for, or the time is over. Never throws. */
export async function listenTo<Found>({ url, greeting, waitMs, look }: ListenOptions<Found>): Promise<Heard<Found>> {
  const started = performance.now()
  const { promise, resolve } = Promise.withResolvers<Heard<Found>>()
  const closed = (error: Error): void => {
    const { code } = error as NodeJS.ErrnoException
    resolve({ kind: 'closed', words: code ?? error.message })
  }
  let socket: WebSocket
  try {
    socket = connect(url)
  } catch (error) {
    // An address that no socket can have, such as one with a fragment.
    closed(error as Error)
    return promise
  }
  const timer = setTimeout(() => resolve({ kind: 'silent', isOpen: socket.readyState === WebSocket.OPEN }), waitMs)
  socket.on('open', () => {
    if (greeting !== undefined) socket.send(greeting)
  })
  socket.on('message', (data) => {
    const found = look(String(data))
    if (found !== undefined) resolve({ kind: 'found', found, elapsedMs: performance.now() - started })
  })
  socket.on('error', closed)
  socket.on('close', (code) => resolve({ kind: 'closed', words: `closed with ${code}` }))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    socket.terminate()
  }
}

function connect(url: string): WebSocket {
  return new WebSocket(url, {
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
}
