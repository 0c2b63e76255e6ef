import { OrderSchema, SubmitOrderRequestSchema, parseOrderId } from '@bezel/protocol'
import { submitOrder } from '../../../orders/submitOrder.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'

export const submitOrderRoute = defineRoute({
  method: 'POST',
  path: '/v1/:chain/orders/:id/submit',
  operationId: 'submitOrder',
  tag: 'Orders',
  access: 'write',
  summary: 'Reports the hash of the transaction that was sent for an order',
  description:
    'Optional: the service watches the chain too. SUBMISSION_MISMATCH leaves the order as it was: report the transaction that was prepared for it. ' +
    'Replaces any hash reported before. A hash that no node knows after 10 seconds leaves the order `prepared`, with its `txHash` shown.',
  errors: ['ORDER_NOT_FOUND', 'SUBMISSION_MISMATCH'],
  body: SubmitOrderRequestSchema,
  responses: { 200: OrderSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    submitOrder(ordersOf(request.params.chain), signedWriteOf(request), parseOrderId(request.params.id), request.body),
})
