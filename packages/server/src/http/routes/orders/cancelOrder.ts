import { PreparedOrderSchema, parseOrderId } from '@bezel/protocol'
import { cancelOrder } from '../../../orders/cancelOrder.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { PREPARE_ERRORS } from './writeErrors.ts'

export const cancelOrderRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/:chain/orders/:id',
  operationId: 'cancelOrder',
  tag: 'Orders',
  access: 'write',
  summary:
    'Prepares the cancellation of a resting order or the reclaim of a timed-out one, or withdraws a prepared one',
  description:
    'A `prepared` order ends at once, without a transaction. For an `open` or `timed_out` one, sign and send the transaction; the order is `canceled` when it is mined. Any other state is ORDER_NOT_MODIFIABLE: read the order again.',
  errors: [...PREPARE_ERRORS, 'ORDER_NOT_FOUND', 'ORDER_NOT_MODIFIABLE'],
  responses: { 200: PreparedOrderSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    cancelOrder(ordersOf(request.params.chain), signedWriteOf(request), parseOrderId(request.params.id)),
})
