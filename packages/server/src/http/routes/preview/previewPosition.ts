import {
  Annotated,
  DecimalSchema,
  parseOrderId,
  PositionPreviewSchema,
  UpdatePositionRequestSchema,
  type UpdatePositionRequest,
} from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { previewPosition } from '../../../orders/previews.ts'
import { queryRefusal } from '../../parameters.ts'
import { defineRoute } from '../../route.ts'
import {
  PREVIEW_ERRORS,
  PREVIEW_WEIGHT,
  previewQuery,
  readQuestion,
  withQueryPaths,
  type PreviewContext,
} from './readQuestion.ts'

const { sl, tp, leverage } = UpdatePositionRequestSchema.properties

const QUERY = previewQuery({
  sl,
  tp,
  leverage,
  addCollateral: Type.Optional(
    Annotated(DecimalSchema, { description: 'Collateral to add, in whole tokens; the size stays.' }),
  ),
  removeCollateral: Type.Optional(
    Annotated(DecimalSchema, { description: 'Collateral to take out, in whole tokens; the size stays.' }),
  ),
})

export const previewPositionRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/preview/position/:id',
  operationId: 'previewPosition',
  tag: 'Account',
  access: 'read',
  summary: 'Says what a change of a position would cost and make of it now, without making it',
  description:
    'The query has one kind of change, as `updatePosition`: `sl` and `tp`, or `leverage`, or collateral. The answer has the position after it: stops, leverage, collateral, liquidation price, the fee, and what leaves or reaches the wallet. ' +
    'What the rules of updatePosition refuse is refused here too, except for a missing allowance, balance or right of the agent, which `missing` lists; what only the contracts refuse, such as a change while another request of the position waits, is told by `simulate=true`. Nothing is stored and no node is asked, unless `simulate=true`.',
  errors: [...PREVIEW_ERRORS, 'LEVERAGE_OUT_OF_RANGE'],
  query: QUERY.parameters,
  weight: PREVIEW_WEIGHT,
  responses: { 200: PositionPreviewSchema },
  async handler(context: PreviewContext, request) {
    const { previews, question, fields } = await readQuestion(context, request, QUERY)
    const { addCollateral, removeCollateral, ...rest } = fields
    if (addCollateral !== undefined && removeCollateral !== undefined) {
      throw queryRefusal([{ path: 'query.removeCollateral', message: 'can not go together with addCollateral' }])
    }
    const amount = addCollateral ?? removeCollateral
    const action = addCollateral === undefined ? 'remove' : 'add'
    const body = {
      ...rest,
      ...(amount === undefined ? {} : { collateral: { action, amount } }),
    } as UpdatePositionRequest
    const preview = previewPosition(previews, question, parseOrderId(request.params.id), body)
    return withQueryPaths(preview, { 'body.collateral.amount': `query.${action}Collateral` })
  },
})
