import { PreparedOrderSchema, UpdateOrderRequestSchema, parseOrderId } from '@bezel/protocol'
import { updateOrder } from '../../../orders/updateOrder.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { OPEN_ERRORS } from './writeErrors.ts'

export const updateOrderRoute = defineRoute({
  method: 'PATCH',
  path: '/v1/:chain/orders/:id',
  operationId: 'updateOrder',
  tag: 'Orders',
  access: 'write',
  summary: 'Prepares a change of a resting limit or stop order',
  errors: [...OPEN_ERRORS, 'ORDER_NOT_FOUND', 'ORDER_NOT_MODIFIABLE'],
  body: UpdateOrderRequestSchema,
  responses: { 200: PreparedOrderSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    updateOrder(ordersOf(request.params.chain), signedWriteOf(request), parseOrderId(request.params.id), request.body),
})
