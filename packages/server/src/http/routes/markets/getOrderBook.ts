import { OrderBookSchema } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { DEFAULT_BOOK_LEVELS, MAX_BOOK_LEVELS } from '../../../market/orderBook.ts'
import { numberQuery } from '../../numberQuery.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

const QUERY = { levels: { min: 1, max: MAX_BOOK_LEVELS, byDefault: DEFAULT_BOOK_LEVELS } }

interface BookRoute {
  readonly Params: { readonly chain: string; readonly symbol: string }
  readonly Querystring: Record<string, unknown>
}

/** GET /v1/{chain}/markets/{symbol}/book: the depth around the mark, level by level. */
export function getOrderBook(app: FastifyInstance, of: MarketsContext): void {
  const schema = { operationId: 'getOrderBook', response: { 200: OrderBookSchema } }
  app.get<BookRoute>('/v1/:chain/markets/:symbol/book', { schema }, async ({ params, query }) => {
    const { levels } = numberQuery(query, QUERY)
    return marketsOf(of, params.chain).book(params.symbol, levels)
  })
}
