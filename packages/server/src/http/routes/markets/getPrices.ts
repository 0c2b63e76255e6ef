import { Closed, PriceSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { JSON_TYPE, marketsOf, type MarketsContext } from './marketsOf.ts'

const PriceList = Closed({ data: Type.Array(PriceSchema) })

/** GET /v1/{chain}/prices: mark and index of every market, each with the time it was last heard of. */
export function getPrices(app: FastifyInstance, of: MarketsContext): void {
  const schema = { operationId: 'getPrices', response: { 200: PriceList } }
  app.get<{ Params: { chain: string } }>('/v1/:chain/prices', { schema }, async (request, reply) =>
    reply.type(JSON_TYPE).send(marketsOf(of, request.params.chain).prices()),
  )
}
