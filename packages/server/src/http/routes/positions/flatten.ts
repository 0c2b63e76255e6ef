import { FlattenRequestSchema, PreparedBatchSchema } from '@bezel/protocol'
import { flatten } from '../../../orders/flatten.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { BATCH_ERRORS } from '../orders/writeErrors.ts'

export const flattenRoute = defineRoute({
  method: 'POST',
  path: '/v1/:chain/flatten',
  operationId: 'flatten',
  tag: 'Positions',
  access: 'write',
  summary: 'Prepares the end of all orders, then of all positions',
  description:
    'Does what `cancelAllOrders` and then `closeAllPositions` do, page by page: send the transaction of each page and ' +
    'ask again with its `next` until that is null. Without `next` it begins again, and prepared orders of earlier pages ' +
    'expire. Orders that wait for the oracle can still open a position: look at `leftOut`, and repeat until the account ' +
    'is flat.',
  errors: [...BATCH_ERRORS, 'ORDER_NOT_MODIFIABLE', 'TOO_MANY_PREPARED_ORDERS'],
  isBodyOptional: true,
  body: FlattenRequestSchema,
  responses: { 200: PreparedBatchSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    flatten(ordersOf(request.params.chain), signedWriteOf(request), 'all', request.body),
})
