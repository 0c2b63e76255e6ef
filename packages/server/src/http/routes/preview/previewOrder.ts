import { CreateOrderRequestSchema, OrderPreviewSchema, type CreateOrderRequest } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { previewOrder } from '../../../orders/previews.ts'
import { defineRoute } from '../../route.ts'
import {
  PREVIEW_ERRORS,
  PREVIEW_WEIGHT,
  previewQuery,
  readQuestion,
  withQueryPaths,
  type PreviewContext,
} from './readQuestion.ts'

// A preview makes no order, so it has no client id.
const QUERY = previewQuery(Type.Omit(CreateOrderRequestSchema, ['clientId']).properties)

export const previewOrderRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/preview/order',
  operationId: 'previewOrder',
  tag: 'Account',
  access: 'read',
  summary: 'Says what an order would cost and do now, without making it',
  description:
    'The query has the fields of `createOrder`. The answer has the price with spread and impact, the fee, the collateral, the size that will fill, the liquidation price, what is missing with its remedies, and the spend of the day afterwards. ' +
    'It is made by the functions that prepare and settle the order, so while prices stand still the fill has these numbers to the last unit. What the rules of createOrder refuse is refused here too, except for a missing allowance, balance or right of the agent, which `missing` lists. A stop on the wrong side of the price of the order is SIMULATION_REVERTED, as there; what else only the contracts refuse is told by `simulate=true`. ' +
    'Nothing is stored and no node is asked, unless `simulate=true`.',
  errors: [...PREVIEW_ERRORS, 'LEVERAGE_OUT_OF_RANGE', 'SIZE_BELOW_MINIMUM', 'SIMULATION_REVERTED'],
  query: QUERY.parameters,
  weight: PREVIEW_WEIGHT,
  responses: { 200: OrderPreviewSchema },
  async handler(context: PreviewContext, request) {
    const { previews, question, fields: body } = await readQuestion(context, request, QUERY)
    return withQueryPaths(previewOrder(previews, question, body as CreateOrderRequest))
  },
})
