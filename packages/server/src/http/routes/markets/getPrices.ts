import { Closed, PriceSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { defineRoute, JSON_TYPE } from '../../route.ts'
import { sendShared } from '../../sharedAnswer.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

const PriceList = Closed(
  { data: Type.Array(PriceSchema) },
  { data: 'Prices of all markets.' },
  { title: 'PriceList', description: 'The current prices of a chain.' },
)

export const getPricesRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/prices',
  operationId: 'getPrices',
  tag: 'Markets',
  access: 'public',
  summary: 'Lists the mark and index price of every market',
  description:
    'Fails only while the price feed as a whole is silent; a quiet market keeps its last price, and `updatedAt` tells its age. The channel `prices` of the WebSocket sends each change.',
  errors: ['NOT_READY'],
  responses: { 200: PriceList },
  handler: (context: MarketsContext, request, reply) =>
    sendShared(request, reply, {
      type: JSON_TYPE,
      body: marketsOf(context, request.params.chain).prices(),
      isTagged: false,
    }),
})
