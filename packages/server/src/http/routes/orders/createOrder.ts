import { CreateOrderRequestSchema, PreparedOrderSchema, type CreateOrderRequest } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { createOrder as create } from '../../../orders/createOrder.ts'
import { enterWrite, orderWrite, type OrderWriteContext } from './orderWrite.ts'

/** POST /v1/{chain}/orders: prepares an order. 200 when its clientId was used for the same one before. */
export function createOrder(app: FastifyInstance, context: OrderWriteContext): void {
  const schema = {
    operationId: 'createOrder',
    body: CreateOrderRequestSchema,
    response: { 200: PreparedOrderSchema, 201: PreparedOrderSchema },
  }
  app.post<{ Params: { chain: string }; Body: CreateOrderRequest }>(
    '/v1/:chain/orders',
    { schema, ...orderWrite(context, 'createOrder') },
    async (request, reply) => {
      const { orders, write } = await enterWrite(context, request)
      const { prepared, isRepeat } = await create(orders, write, request.body)
      return reply.code(isRepeat ? 200 : 201).send(prepared)
    },
  )
}
