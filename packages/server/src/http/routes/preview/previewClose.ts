import { ClosePositionRequestSchema, OrderPreviewSchema, parseOrderId } from '@bezel/protocol'
import { previewClose } from '../../../orders/previews.ts'
import { defineRoute } from '../../route.ts'
import {
  PREVIEW_ERRORS,
  PREVIEW_WEIGHT,
  previewQuery,
  readQuestion,
  withQueryPaths,
  type PreviewContext,
} from './readQuestion.ts'

const QUERY = previewQuery(ClosePositionRequestSchema.properties)

export const previewCloseRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/preview/close/:id',
  operationId: 'previewClose',
  tag: 'Account',
  access: 'read',
  summary: 'Says what the close of a position would pay and cost now, without making it',
  description:
    'The query has the fields of `closePosition`; without `size` all of the position closes. The answer has the price with spread and impact, the profit, all fees, the payout and, where a part is left, its liquidation price. ' +
    'What the rules of closePosition refuse is refused here too, except for a missing right of the agent, which `missing` lists; what only the contracts refuse, such as a close while another request of the position waits, is told by `simulate=true`. Nothing is stored and no node is asked, unless `simulate=true`.',
  errors: PREVIEW_ERRORS,
  query: QUERY.parameters,
  weight: PREVIEW_WEIGHT,
  responses: { 200: OrderPreviewSchema },
  async handler(context: PreviewContext, request) {
    const { previews, question, fields } = await readQuestion(context, request, QUERY)
    return withQueryPaths(previewClose(previews, question, parseOrderId(request.params.id), fields))
  },
})
