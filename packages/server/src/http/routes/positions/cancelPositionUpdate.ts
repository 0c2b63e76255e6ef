import { PreparedPositionSchema, parseOrderId } from '@bezel/protocol'
import { cancelPositionUpdate } from '../../../orders/cancelPositionUpdate.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { PREPARE_ERRORS } from '../orders/writeErrors.ts'

export const cancelPositionUpdateRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/:chain/positions/:id/pending-update',
  operationId: 'cancelPositionUpdate',
  tag: 'Positions',
  access: 'write',
  summary: 'Prepares the reclaim of a change of leverage or collateral that the oracle has not answered in time',
  description:
    'Sign and send the transaction: the collateral of the change returns to the wallet. Before block `timesOutAtBlock`, and when nothing is pending, it is ORDER_NOT_MODIFIABLE with both blocks in `details`. It works for a position that was closed meanwhile too.',
  errors: [...PREPARE_ERRORS, 'POSITION_NOT_FOUND', 'ORDER_NOT_MODIFIABLE'],
  responses: { 200: PreparedPositionSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    cancelPositionUpdate(ordersOf(request.params.chain), signedWriteOf(request), parseOrderId(request.params.id)),
})
