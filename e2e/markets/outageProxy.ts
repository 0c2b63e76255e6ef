import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

/** A proxy between the service and a node or feed, so that a test can take that away. */
export interface OutageProxy {
  readonly url: string
  /** True while requests are cut. */
  isDown: boolean
  /** True while streams stay connected but carry nothing. */
  isSilent: boolean
  /** Returns the status that a path answers with instead of its page; `undefined` passes the request on. */
  refusal: (path: string) => number | undefined
  /** The requests so far, with the times at which they arrived. */
  readonly asked: { readonly path: string; readonly atMs: number }[]
  close(): Promise<void>
}

/** Starts a proxy that passes requests and streams on to `target`, an http address without a trailing slash. */
export async function startOutageProxy(target: string): Promise<OutageProxy> {
  const server = createServer(async (request, response) => {
    try {
      if (proxy.isDown) throw new Error('down')
      const path = request.url ?? ''
      proxy.asked.push({ path, atMs: Date.now() })
      const refused = proxy.refusal(path)
      if (refused !== undefined) return void response.writeHead(refused).end()
      const { method = 'GET' } = request
      const body = method === 'GET' ? null : await bodyOf(request)
      const answer = await fetch(target + path, {
        method,
        body,
        headers: { 'content-type': 'application/json' },
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(await answer.text())
    } catch {
      request.socket.destroy()
    }
  })
  const streams = new WebSocketServer({ server })
  streams.on('connection', (socket, request) => {
    const upstream = new WebSocket(target.replace(/^http/, 'ws') + (request.url ?? ''))
    upstream.on('message', (data) => {
      if (!proxy.isSilent) socket.send(String(data))
    })
    upstream.on('error', () => socket.terminate())
    upstream.on('close', () => socket.terminate())
    socket.on('close', () => upstream.terminate())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const proxy: OutageProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isDown: false,
    isSilent: false,
    refusal: () => undefined,
    asked: [],
    close: () =>
      new Promise((closed) => {
        for (const socket of streams.clients) socket.terminate()
        streams.close()
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
  return proxy
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
