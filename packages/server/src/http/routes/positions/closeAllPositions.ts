import { FlattenRequestSchema, PreparedBatchSchema } from '@bezel/protocol'
import { flatten } from '../../../orders/flatten.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { BATCH_ERRORS } from '../orders/writeErrors.ts'

export const closeAllPositionsRoute = defineRoute({
  method: 'POST',
  path: '/v1/:chain/positions/close-all',
  operationId: 'closeAllPositions',
  tag: 'Positions',
  access: 'write',
  summary: 'Prepares the closing of all positions at market',
  description:
    'Makes one order for each of up to 20 positions, oldest first, and one transaction for all of them; `next` leads to ' +
    'the following ones. A position that can not be closed, because its market is closed, another request of it waits, ' +
    'the contracts would revert or the scope does not name its market, is left out and named, and the others go on ' +
    'without it. The whole page counts as one write and as one prepared order. Report the hash for any of its orders: ' +
    'it counts for all.',
  errors: [...BATCH_ERRORS, 'TOO_MANY_PREPARED_ORDERS'],
  isBodyOptional: true,
  body: FlattenRequestSchema,
  responses: { 200: PreparedBatchSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    flatten(ordersOf(request.params.chain), signedWriteOf(request), 'positions', request.body),
})
