import {
  ClosePositionRequestSchema,
  PreparedOrderSchema,
  parseOrderId,
  type ClosePositionRequest,
} from '@bezel/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { closePosition as close } from '../../../orders/closePosition.ts'
import { enterWrite, orderWrite, type OrderRoute, type OrderWriteContext } from '../orders/orderWrite.ts'

/** POST /v1/{chain}/positions/{id}/close: prepares a close at market, which is an order of its own. */
export function closePosition(app: FastifyInstance, context: OrderWriteContext): void {
  const schema = {
    operationId: 'closePosition',
    body: ClosePositionRequestSchema,
    response: { 200: PreparedOrderSchema },
  }
  const access = orderWrite(context, 'closePosition')
  app.post<OrderRoute & { Body: ClosePositionRequest }>(
    '/v1/:chain/positions/:id/close',
    { schema, ...access, preValidation: [access.preValidation, acceptNoBody] },
    async (request) => {
      const { orders, write } = await enterWrite(context, request)
      return close(orders, write, parseOrderId(request.params.id), request.body)
    },
  )
}

/** Every field is optional, so a close of all of it needs none. A body that says null is one, and not a good one. */
async function acceptNoBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}
