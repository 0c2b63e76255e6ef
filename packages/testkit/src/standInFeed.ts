import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

/** A price feed for tests, with pages and stream messages set by the test. */
export interface StandInFeed {
  readonly url: string
  /** Pages by path. A missing page answers 404, one that throws 500. */
  pages: Record<string, () => unknown>
  /** Paths requested so far. */
  readonly asked: string[]
  /** Returns the number of connected sockets. */
  sockets(): number
  /** Sends a message to every socket; a `Buffer` as a binary frame. */
  send(message: string | Buffer): void
  /** Ends every connection. */
  cut(): void
  readonly close: () => Promise<void>
}

export async function startStandInFeed(pages: StandInFeed['pages'] = {}): Promise<StandInFeed> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const page = feed.pages[path]
    try {
      const body = page?.()
      response.writeHead(page === undefined ? 404 : 200)
      response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}))
    } catch {
      response.writeHead(500)
      response.end('broken')
    }
  })
  const stream = new WebSocketServer({ server })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const cut = (): void => {
    for (const socket of stream.clients) socket.terminate()
  }
  const feed: StandInFeed = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    asked,
    sockets: () => stream.clients.size,
    send: (message) => {
      for (const socket of stream.clients) socket.send(message)
    },
    cut,
    close: () =>
      new Promise((closed) => {
        cut()
        stream.close()
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
  return feed
}
