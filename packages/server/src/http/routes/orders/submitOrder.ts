import { OrderSchema, SubmitOrderRequestSchema, parseOrderId, type SubmitOrderRequest } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { submitOrder as submit } from '../../../orders/submitOrder.ts'
import { enterWrite, orderWrite, type OrderRoute, type OrderWriteContext } from './orderWrite.ts'

/** POST /v1/{chain}/orders/{id}/submit: takes the hash of the transaction that was broadcast. */
export function submitOrder(app: FastifyInstance, context: OrderWriteContext): void {
  const schema = { operationId: 'submitOrder', body: SubmitOrderRequestSchema, response: { 200: OrderSchema } }
  app.post<OrderRoute & { Body: SubmitOrderRequest }>(
    '/v1/:chain/orders/:id/submit',
    { schema, ...orderWrite(context, 'submitOrder') },
    async (request) => {
      const { orders, write } = await enterWrite(context, request)
      return submit(orders, write, parseOrderId(request.params.id), request.body)
    },
  )
}
