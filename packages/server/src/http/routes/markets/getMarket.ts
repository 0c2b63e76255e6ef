import { MarketSchema } from '@bezel/protocol'
import { defineRoute } from '../../route.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

export const getMarketRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/markets/:symbol',
  operationId: 'getMarket',
  tag: 'Markets',
  access: 'public',
  summary: 'Reads one market',
  description:
    'Gives the bounds, precisions, fees and rates that an order has to fit. For an unknown symbol `details.nearest` is the one that was probably meant.',
  errors: ['MARKET_NOT_FOUND', 'NOT_READY'],
  responses: { 200: MarketSchema },
  handler: async (context: MarketsContext, { params }) => marketsOf(context, params.chain).market(params.symbol),
})
