import { Closed, MarketSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { defineRoute, JSON_TYPE } from '../../route.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

const MarketList = Closed({ data: Type.Array(MarketSchema) })

export const listMarketsRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/markets',
  operationId: 'listMarkets',
  tag: 'Markets',
  access: 'public',
  summary: 'Lists every market that can be traded',
  errors: ['NOT_READY'],
  responses: { 200: MarketList },
  handler: async (context: MarketsContext, { params }, reply) =>
    reply.type(JSON_TYPE).send(marketsOf(context, params.chain).markets()),
})
