import {
  PreparedPositionSchema,
  UpdatePositionRequestSchema,
  parseOrderId,
  type UpdatePositionRequest,
} from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { updatePosition as update } from '../../../orders/updatePosition.ts'
import { enterWrite, orderWrite, type OrderRoute, type OrderWriteContext } from '../orders/orderWrite.ts'

/** PATCH /v1/{chain}/positions/{id}: prepares new triggers, leverage or collateral of a position. */
export function updatePosition(app: FastifyInstance, context: OrderWriteContext): void {
  const schema = {
    operationId: 'updatePosition',
    body: UpdatePositionRequestSchema,
    response: { 200: PreparedPositionSchema },
  }
  app.patch<OrderRoute & { Body: UpdatePositionRequest }>(
    '/v1/:chain/positions/:id',
    { schema, ...orderWrite(context, 'updatePosition') },
    async (request) => {
      const { orders, write } = await enterWrite(context, request)
      return update(orders, write, parseOrderId(request.params.id), request.body)
    },
  )
}
