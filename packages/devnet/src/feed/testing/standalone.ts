import { createServer } from 'node:http'
import type { Prices } from '../prices.ts'
import { createFeedServer, type FeedServerOptions } from '../server.ts'

/** A feed on a port of its own, at the root path. */
export interface StandaloneFeed {
  readonly url: string
  close(): Promise<void>
}

/** Serves the prices alone. Port 0 takes any free port. */
export async function listenFeed(prices: Prices, port = 0, options: FeedServerOptions = {}): Promise<StandaloneFeed> {
  const feed = createFeedServer(prices, options)
  const server = createServer((request, response) => feed.onRequest(request, response, request.url ?? '/'))
  server.on('upgrade', (request, socket, head) => feed.onUpgrade(request, socket, head, request.url ?? '/'))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The feed has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => {
      feed.close()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
