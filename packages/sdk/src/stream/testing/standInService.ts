import type { AddressInfo } from 'node:net'
import type { LogChannel } from '@bezel/protocol/wire'
import { WebSocketServer, type WebSocket } from 'ws'

/** A message of the client. */
export interface Said {
  readonly op: string
  readonly channel?: string
  readonly market?: string
  readonly fromSeq?: number
}

/** A service that speaks the protocol of the stream and misbehaves on command, which the real one can't. */
export interface StandInService {
  readonly url: string
  /** All messages of clients, in order. */
  readonly said: readonly Said[]
  readonly connections: () => number
  readonly openSockets: () => number
  /** Appends an event to the log and sends it to the subscribers. */
  append(channel: LogChannel): void
  /** Sends an event to all subscribers of its channel. */
  tell(event: object): void
  /** Sends a message to all clients, whatever they asked. */
  say(message: object): void
  /** Answers the next message of this kind with an error. */
  refuse(op: string, code: string): void
  /** Sends events but makes clients wait for their answers; `false` answers them all. */
  setBusy(isBusy: boolean): void
  /** True for a service that is connected but neither reads nor sends any more. */
  isFrozen: boolean
  cut(): void
  close(): Promise<void>
}

interface Logged {
  readonly channel: LogChannel
  readonly seq: number
}

/** Starts the service. `heartbeatMs` is what it announces; it never pings. */
export async function startStandInService(heartbeatMs = 15_000): Promise<StandInService> {
  const server = await listen()
  const said: Said[] = []
  const log: Logged[] = []
  const refusals: { op: string; code: string }[] = []
  const topics = new Map<WebSocket, Set<string>>()
  const held: (() => void)[] = []
  let isBusy = false
  let connections = 0

  function send(socket: WebSocket, message: object): void {
    if (!service.isFrozen) socket.send(JSON.stringify(message))
  }

  function subscribe(socket: WebSocket, { channel, market, fromSeq }: Said): void {
    topics.get(socket)!.add(String(channel))
    send(socket, { op: 'subscribed', channel, market })
    if (fromSeq === undefined) send(socket, { channel, market, snapshot: true, seq: log.length, data: [] })
    else for (const event of log.slice(fromSeq - 1)) if (event.channel === channel) send(socket, eventOf(event))
  }

  function answer(socket: WebSocket, message: Said): void {
    const at = refusals.findIndex(({ op }) => op === message.op)
    if (at >= 0) return send(socket, { op: 'error', code: refusals.splice(at, 1)[0]!.code, message: 'No.' })
    if (message.op === 'auth') send(socket, { op: 'authenticated' })
    if (message.op === 'ping') send(socket, { op: 'pong' })
    if (message.op === 'subscribe') subscribe(socket, message)
    if (message.op !== 'unsubscribe') return
    topics.get(socket)!.delete(String(message.channel))
    send(socket, { op: 'unsubscribed', channel: message.channel, market: message.market })
  }

  server.on('connection', (socket) => {
    connections += 1
    topics.set(socket, new Set())
    socket.on('close', () => topics.delete(socket))
    socket.on('message', (data) => {
      if (service.isFrozen) return
      const message = JSON.parse(String(data)) as Said
      said.push(message)
      if (isBusy) held.push(() => answer(socket, message))
      else answer(socket, message)
    })
    send(socket, { op: 'hello', chain: 'arbitrum-sepolia', heartbeatMs })
  })

  const tell = (event: { readonly channel?: string }): void => {
    for (const [socket, channels] of topics) if (channels.has(event.channel!)) send(socket, event)
  }
  const service: StandInService = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    said,
    connections: () => connections,
    openSockets: () => topics.size,
    isFrozen: false,
    append(channel) {
      const event = { channel, seq: log.length + 1 }
      log.push(event)
      tell(eventOf(event))
    },
    tell,
    say: (message) => topics.forEach((_, socket) => send(socket, message)),
    refuse: (op, code) => void refusals.push({ op, code }),
    setBusy(busy) {
      isBusy = busy
      if (!busy) for (const answerNow of held.splice(0)) answerNow()
    },
    cut: () => server.clients.forEach((socket) => socket.terminate()),
    close() {
      service.cut()
      return new Promise((closed) => server.close(() => closed()))
    },
  }
  return service
}

async function listen(): Promise<WebSocketServer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  return server
}

function eventOf({ channel, seq }: Logged): object {
  return { channel, snapshot: false, seq, timestamp: seq, block: null, reverted: false, data: { id: String(seq) } }
}
