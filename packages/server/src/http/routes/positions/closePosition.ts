import { ClosePositionRequestSchema, PreparedOrderSchema, parseOrderId } from '@bezel/protocol'
import { closePosition } from '../../../orders/closePosition.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { CHANGE_ERRORS } from '../orders/writeErrors.ts'

export const closePositionRoute = defineRoute({
  method: 'POST',
  path: '/v1/:chain/positions/:id/close',
  operationId: 'closePosition',
  tag: 'Positions',
  access: 'write',
  summary: 'Prepares the closing of a position at market, in full or in part',
  description:
    'Answers with an order of its own, `reduceOnly` and on the other side: sign and send its transaction, then follow the order. While a change of the position waits for the oracle the contracts refuse a close (SIMULATION_REVERTED with `details.pendingUpdate`).',
  errors: [...CHANGE_ERRORS, 'POSITION_NOT_FOUND', 'TOO_MANY_PREPARED_ORDERS'],
  isBodyOptional: true,
  body: ClosePositionRequestSchema,
  responses: { 200: PreparedOrderSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    closePosition(
      ordersOf(request.params.chain),
      signedWriteOf(request),
      parseOrderId(request.params.id),
      request.body,
    ),
})
