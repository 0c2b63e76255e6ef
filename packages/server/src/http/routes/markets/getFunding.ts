import { MarketFundingSchema } from '@bezel/protocol'
import { defineRoute } from '../../route.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

export const getFundingRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/markets/:symbol/funding',
  operationId: 'getFunding',
  tag: 'Markets',
  access: 'public',
  summary: 'Reads the funding and borrowing rates and the open interest of a market',
  description:
    'Rates are in percent per hour; positive is paid by that side. They hold for the default collateral of the chain.',
  errors: ['MARKET_NOT_FOUND', 'NOT_READY'],
  responses: { 200: MarketFundingSchema },
  handler: async (context: MarketsContext, { params }) => marketsOf(context, params.chain).funding(params.symbol),
})
