import { MarketFundingSchema } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

/** GET /v1/{chain}/markets/{symbol}/funding: funding and borrowing rates, and open interest. */
export function getFunding(app: FastifyInstance, of: MarketsContext): void {
  const schema = { operationId: 'getFunding', response: { 200: MarketFundingSchema } }
  app.get<{ Params: { chain: string; symbol: string } }>(
    '/v1/:chain/markets/:symbol/funding',
    { schema },
    async ({ params }) => marketsOf(of, params.chain).funding(params.symbol),
  )
}
