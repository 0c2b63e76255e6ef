import { PreparedPositionSchema, UpdatePositionRequestSchema, parseOrderId } from '@bezel/protocol'
import { updatePosition } from '../../../orders/updatePosition.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { CHANGE_ERRORS } from '../orders/writeErrors.ts'

export const updatePositionRoute = defineRoute({
  method: 'PATCH',
  path: '/v1/:chain/positions/:id',
  operationId: 'updatePosition',
  tag: 'Positions',
  access: 'write',
  summary: 'Prepares a change of stop loss, take profit, leverage or collateral',
  description:
    'Takes `sl` and `tp`, or `leverage`, or `collateral`; it makes no order. Sign and send the transaction, then read the position: `sl` and `tp` hold when it is mined, a change of leverage or collateral waits for the oracle as `pendingUpdate`.',
  errors: [...CHANGE_ERRORS, 'SCOPE_LEVERAGE_EXCEEDED', 'LEVERAGE_OUT_OF_RANGE', 'POSITION_NOT_FOUND'],
  body: UpdatePositionRequestSchema,
  responses: { 200: PreparedPositionSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    updatePosition(
      ordersOf(request.params.chain),
      signedWriteOf(request),
      parseOrderId(request.params.id),
      request.body,
    ),
})
