import { Closed, PriceSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { defineRoute, JSON_TYPE } from '../../route.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

const PriceList = Closed({ data: Type.Array(PriceSchema) })

export const getPricesRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/prices',
  operationId: 'getPrices',
  tag: 'Markets',
  access: 'public',
  summary: 'Lists the mark and index price of every market',
  description: '`updatedAt` is the time of the last update of a price.',
  errors: ['NOT_READY'],
  responses: { 200: PriceList },
  handler: async (context: MarketsContext, { params }, reply) =>
    reply.type(JSON_TYPE).send(marketsOf(context, params.chain).prices()),
})
