import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'

/** The answer of a backend instead of the true one, which `honest` returns. */
export type Lie = (
  asked: string,
  honest: () => Promise<string>,
) => Promise<{ readonly status?: number; readonly text: string; readonly isCutShort?: boolean }>

/** The way a backend fails. */
export type Fault =
  | { readonly kind: 'none' }
  /** Cuts connections. */
  | { readonly kind: 'down' }
  /** Answers correctly, but late. */
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'lies'; readonly lie: Lie }

/** The fault of streams: passed on, cut and refused, or connected and silent. */
export type StreamFault = 'none' | 'down' | 'silent'

/** A proxy between the service and a node or feed that can fail in every way these can. */
export interface FaultyProxy {
  readonly url: string
  /** The fault of requests. */
  fault: Fault
  /** Sets the fault of streams; `down` cuts those that are open. */
  setStreams(fault: StreamFault): void
  /** Returns the number of connected streams. */
  openStreams(): number
  close(): Promise<void>
}

/** Starts a proxy that passes requests and streams on to `target`, an http address without a trailing slash. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let streamFault: StreamFault = 'none'
  const closing = new AbortController()

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => request.socket.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { fault } = proxy
    if (fault.kind === 'down') throw new Error('down')
    const asked = await bodyOf(request)
    const honest = () => pass(target + pathOf(request), request.method ?? 'GET', asked)
    if (fault.kind === 'slow') await sleep(fault.ms, undefined, { signal: closing.signal })
    if (fault.kind !== 'lies') return void response.setHeader('content-type', 'application/json').end(await honest())
    const { status = 200, text, isCutShort = false } = await fault.lie(asked, honest)
    response.writeHead(status, { 'content-length': Buffer.byteLength(text) })
    if (!isCutShort) return void response.end(text)
    response.write(text.slice(0, text.length / 2), () => response.destroy())
  }

  const streams = new WebSocketServer({ server, verifyClient: () => streamFault !== 'down' })
  streams.on('connection', (socket, request) => {
    const upstream = new WebSocket(target.replace(/^http/, 'ws') + pathOf(request))
    const early: string[] = []
    socket.on('message', (data) => {
      if (upstream.readyState === WebSocket.OPEN) upstream.send(String(data))
      else early.push(String(data))
    })
    upstream.on('open', () => early.forEach((text) => upstream.send(text)))
    upstream.on('message', (data) => {
      if (streamFault === 'none') socket.send(String(data))
    })
    upstream.on('error', () => socket.terminate())
    upstream.on('close', () => socket.terminate())
    socket.on('close', () => upstream.terminate())
  })

  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const cutStreams = (): void => streams.clients.forEach((socket) => socket.terminate())
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: { kind: 'none' },
    setStreams(fault) {
      streamFault = fault
      if (fault === 'down') cutStreams()
    },
    openStreams: () => streams.clients.size,
    close: () =>
      new Promise((closed) => {
        closing.abort()
        cutStreams()
        streams.close()
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
  return proxy
}

async function pass(url: string, method: string, asked: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, method === 'GET' ? {} : { method, headers, body: asked })
  return answer.text()
}

/** Returns the path to append to the target, which may have a path itself. */
function pathOf({ url = '' }: IncomingMessage): string {
  return url === '/' ? '' : url
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
