import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { WebSocket } from 'ws'

// The client side of the sockets, in a process of its own. It carries out the parent's orders one after the other.

/**
 * An order to open sockets. With `isTimed` they are real clients that record when each message arrives, otherwise
 * connections that read and discard.
 */
export interface OpenOrder {
  readonly kind: 'open'
  readonly port: number
  readonly path: string
  readonly sockets: number
  readonly isSubscribed: boolean
  readonly isTimed: boolean
}

export type ClientOrder = OpenOrder | { readonly kind: 'report' } | { readonly kind: 'close' }

/** Arrival of a message at one of the sockets. `atMs` is epoch ms. */
export interface Arrival {
  readonly seq: number
  readonly atMs: number
}

const SUBSCRIBE = JSON.stringify({ op: 'subscribe', channel: 'prices' })
const BATCH = 50

const open: { close(): void }[] = []
let arrivals: Arrival[] = []

process.on('message', (order: ClientOrder) => void obey(order))

async function obey(order: ClientOrder): Promise<void> {
  if (order.kind === 'open') await openSockets(order)
  if (order.kind === 'close') for (const { close } of open.splice(0)) close()
  process.send!(order.kind === 'report' ? arrivals : order.kind)
  if (order.kind === 'report') arrivals = []
}

async function openSockets(order: OpenOrder): Promise<void> {
  for (let opened = 0; opened < order.sockets; opened += BATCH) {
    const batch = Math.min(BATCH, order.sockets - opened)
    await Promise.all(Array.from({ length: batch }, () => (order.isTimed ? openTimed(order) : openPlain(order))))
  }
}

async function openTimed({ port, path }: OpenOrder): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false })
  socket.on('message', (data) => {
    const atMs = performance.timeOrigin + performance.now()
    const { snapshot, seq } = JSON.parse(String(data)) as { snapshot?: boolean; seq?: number }
    if (snapshot === false) arrivals.push({ seq: seq!, atMs })
  })
  open.push({ close: () => socket.terminate() })
  await once(socket, 'open')
  socket.send(SUBSCRIBE)
}

async function openPlain({ port, path, isSubscribed }: OpenOrder): Promise<void> {
  const socket = createConnection(port, '127.0.0.1')
  open.push({ close: () => socket.destroy() })
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  )
  await once(socket, 'data')
  if (isSubscribed) await subscribe(socket)
  socket.resume()
}

async function subscribe(socket: Socket): Promise<void> {
  const payload = Buffer.from(SUBSCRIBE)
  // A masked text frame; the mask is zero, so the payload stays as it is.
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]))
  await once(socket, 'data')
}
