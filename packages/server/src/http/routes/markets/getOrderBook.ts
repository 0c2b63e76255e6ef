import { OrderBookSchema } from '@bezel/protocol'
import { DEFAULT_BOOK_LEVELS, MAX_BOOK_LEVELS } from '../../../market/orderBook.ts'
import { numberQuery, wholeNumber } from '../../parameters.ts'
import { defineRoute } from '../../route.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

const QUERY = {
  levels: wholeNumber({
    min: 1,
    max: MAX_BOOK_LEVELS,
    byDefault: DEFAULT_BOOK_LEVELS,
    description: 'The most levels of each side.',
  }),
}

export const getOrderBookRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/markets/:symbol/book',
  operationId: 'getOrderBook',
  tag: 'Markets',
  access: 'public',
  summary: 'Reads the depth of a market around its mark price, outside the spread',
  description:
    'The levels come from the depth bands of the contracts; they are not orders of other traders. The best ask is what a small buy pays and the best bid what a small sell gets, skew apart. A market whose price does not move with volume has one level on each side, a closed one has none.',
  errors: ['MARKET_NOT_FOUND', 'NOT_READY'],
  query: QUERY,
  responses: { 200: OrderBookSchema },
  async handler(context: MarketsContext, { params, query }) {
    const { levels } = numberQuery(query, QUERY)
    return marketsOf(context, params.chain).book(params.symbol, levels)
  },
})
