import { once } from 'node:events'
import type { WebSocket } from 'ws'

/** What came over a socket: any message of the service. */
export type Told = Readonly<Record<string, unknown>>

/** A client that keeps what it is told, in order. */
export interface StreamClient {
  readonly socket: WebSocket
  /** All so far, the ones that were taken too. */
  readonly told: readonly Told[]
  say(message: object | string): void
  /** The next message that was not taken yet. */
  next(): Promise<Told>
  /** Says something and takes the answer. */
  ask(message: object | string): Promise<Told>
  /** The code that it was closed with. */
  readonly closed: Promise<number>
}

const PATIENCE_MS = 10_000

/** Waits until it is open. Rejects when the handshake is refused. */
export async function listen(socket: WebSocket): Promise<StreamClient> {
  const told: Told[] = []
  let taken = 0
  let onNews = (): void => undefined
  socket.on('message', (data) => {
    told.push(JSON.parse(String(data)) as Told)
    onNews()
  })
  const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)))
  const opened = once(socket, 'open')
  socket.on('error', () => undefined)
  await opened

  async function next(): Promise<Told> {
    if (taken === told.length) await news()
    return told[taken++]!
  }

  function news(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('nothing was told')), PATIENCE_MS)
      onNews = () => {
        clearTimeout(timer)
        onNews = () => undefined
        resolve()
      }
    })
  }

  const say = (message: object | string): void =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  return {
    socket,
    told,
    say,
    next,
    ask: (message) => {
      say(message)
      return next()
    },
    closed,
  }
}
