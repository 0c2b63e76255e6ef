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
  errors: [...PREPARE_ERRORS, 'ORDER_NOT_FOUND', 'ORDER_NOT_MODIFIABLE'],
  responses: { 200: PreparedOrderSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    cancelOrder(ordersOf(request.params.chain), signedWriteOf(request), parseOrderId(request.params.id)),
})
