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
  description:
    'Sign and send the transaction; the order keeps its id and shows the change when it is mined. A new `size`, and most new prices, cancel and place again in one transaction, which needs the allowance for the whole collateral again. A market request and an order that is not `open` are ORDER_NOT_MODIFIABLE.',
  errors: [...OPEN_ERRORS, 'ORDER_NOT_FOUND', 'ORDER_NOT_MODIFIABLE'],
  body: UpdateOrderRequestSchema,
  responses: { 200: PreparedOrderSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    updateOrder(ordersOf(request.params.chain), signedWriteOf(request), parseOrderId(request.params.id), request.body),
})
