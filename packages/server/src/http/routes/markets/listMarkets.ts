import { Closed, MarketSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { defineRoute, JSON_TYPE, UNCHANGED } from '../../route.ts'
import { sendShared } from '../../sharedAnswer.ts'
import { marketsOf, type MarketsContext } from './marketsOf.ts'

const MarketList = Closed(
  { data: Type.Array(MarketSchema) },
  { data: 'Markets that can be traded.' },
  { title: 'MarketList', description: 'The markets of a chain.' },
)

export const listMarketsRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/markets',
  operationId: 'listMarkets',
  tag: 'Markets',
  access: 'public',
  summary: 'Lists every market that can be traded',
  description:
    'Fails only while the markets are not loaded or the price feed as a whole is silent: ask again after a pause.',
  errors: ['NOT_READY'],
  responses: { 200: MarketList },
  bodiless: UNCHANGED,
  handler: (context: MarketsContext, request, reply) =>
    sendShared(request, reply, { type: JSON_TYPE, body: marketsOf(context, request.params.chain).markets() }),
})
