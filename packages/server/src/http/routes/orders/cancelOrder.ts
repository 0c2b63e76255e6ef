import { PreparedOrderSchema, parseOrderId } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { cancelOrder as cancel } from '../../../orders/cancelOrder.ts'
import { enterWrite, orderWrite, type OrderRoute, type OrderWriteContext } from './orderWrite.ts'

/** DELETE /v1/{chain}/orders/{id}: prepares a cancellation or a reclaim, or withdraws what was only prepared. */
export function cancelOrder(app: FastifyInstance, context: OrderWriteContext): void {
  const schema = { operationId: 'cancelOrder', response: { 200: PreparedOrderSchema } }
  app.delete<OrderRoute>(
    '/v1/:chain/orders/:id',
    { schema, ...orderWrite(context, 'cancelOrder') },
    async (request) => {
      const { orders, write } = await enterWrite(context, request)
      return cancel(orders, write, parseOrderId(request.params.id))
    },
  )
}
