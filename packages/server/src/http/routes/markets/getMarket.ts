import { MarketSchema } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

/** GET /v1/{chain}/markets/{symbol}: one market. */
export function getMarket(app: FastifyInstance, of: MarketsContext): void {
  const schema = { operationId: 'getMarket', response: { 200: MarketSchema } }
  app.get<{ Params: { chain: string; symbol: string } }>('/v1/:chain/markets/:symbol', { schema }, async ({ params }) =>
    marketsOf(of, params.chain).market(params.symbol),
  )
}
