import { Closed, MarketSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE, marketsOf, type MarketsContext } from './marketsOf.ts'

const MarketList = Closed({ data: Type.Array(MarketSchema) })

/** GET /v1/{chain}/markets: every market that can be traded. */
export function listMarkets(app: FastifyInstance, of: MarketsContext): void {
  const schema = { operationId: 'listMarkets', response: { 200: MarketList } }
  app.get<{ Params: { chain: string } }>('/v1/:chain/markets', { schema }, async (request, reply) =>
    reply.type(JSON_TYPE).send(marketsOf(of, request.params.chain).markets()),
  )
}
