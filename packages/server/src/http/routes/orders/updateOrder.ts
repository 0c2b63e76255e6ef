import { PreparedOrderSchema, UpdateOrderRequestSchema, parseOrderId, type UpdateOrderRequest } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { updateOrder as update } from '../../../orders/updateOrder.ts'
import { enterWrite, orderWrite, type OrderRoute, type OrderWriteContext } from './orderWrite.ts'

/** PATCH /v1/{chain}/orders/{id}: prepares the change of a resting order. */
export function updateOrder(app: FastifyInstance, context: OrderWriteContext): void {
  const schema = { operationId: 'updateOrder', body: UpdateOrderRequestSchema, response: { 200: PreparedOrderSchema } }
  app.patch<OrderRoute & { Body: UpdateOrderRequest }>(
    '/v1/:chain/orders/:id',
    { schema, ...orderWrite(context, 'updateOrder') },
    async (request) => {
      const { orders, write } = await enterWrite(context, request)
      return update(orders, write, parseOrderId(request.params.id), request.body)
    },
  )
}
