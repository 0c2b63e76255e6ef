import type { IncomingMessage, ServerResponse } from 'node:http'
import { FeedInputError } from '../price.ts'
import type { Prices } from '../prices.ts'
import { chartPrices } from './chartPrices.ts'
import { history } from './history.ts'
import { marketStatus } from './marketStatus.ts'
import { snapshot } from './snapshot.ts'

/** Answers a request of the feed. `path` is what follows the mount, with its query. */
export function respond(prices: Prices, request: IncomingMessage, response: ServerResponse, path: string): void {
  if (request.method !== 'GET') return send(response, 405, { error: 'The price feed only answers GET.' })
  try {
    const page = pageAt(prices, path)
    if (page === undefined) send(response, 404, { error: 'The price feed has no such page.' })
    else send(response, 200, page)
  } catch (error) {
    if (!(error instanceof FeedInputError)) throw error
    send(response, 400, { error: error.message })
  }
}

/** The pages of the feed: one visible list. */
function pageAt(prices: Prices, path: string): object | undefined {
  const [pathname = '', query = ''] = path.split('?', 2)
  const [, first, ...rest] = pathname.replace(/\/$/, '').split('/')
  if (first === 'market-status' && rest.length === 0) return marketStatus(prices)
  if (first !== 'charts') return undefined
  if (rest.length === 0) return snapshot(prices)
  if (rest.length === 1 && rest[0] === 'prices') return chartPrices(prices, new URLSearchParams(query))
  return rest.length === 4 ? history(prices, rest) : undefined
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'access-control-allow-origin': '*',
    'cache-control': 'no-store',
  })
  response.end(text)
}
