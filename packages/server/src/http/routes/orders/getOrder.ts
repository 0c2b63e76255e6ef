import { ApiError, OrderSchema, parseOrderId } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { findOrder } from '../../../store/orderStore.ts'
import { orderAnswer } from '../../../trading/orders/orderAnswer.ts'
import { callerOf } from '../../../access/caller.ts'
import { requirePrivateRead } from '../../hooks/privateRead.ts'
import { servedChainOf } from '../../../access/servedChainOf.ts'
import type { AccountContext } from '../account/accountRoutes.ts'
import { JSON_TYPE } from '../markets/marketsOf.ts'

export type GetOrderContext = Pick<AccountContext, 'agentsOf' | 'authenticate' | 'now' | 'chains' | 'store'>

/** GET /v1/{chain}/orders/{id}: one order of the caller. Somebody else's looks like one that never was. */
export function getOrder(app: FastifyInstance, context: GetOrderContext): void {
  const schema = { operationId: 'getOrder', response: { 200: OrderSchema } }
  app.get<{ Params: { chain: string; id: string } }>(
    '/v1/:chain/orders/:id',
    { schema, preValidation: requirePrivateRead(context, 'getOrder') },
    async (request, reply) => {
      const { slug } = servedChainOf(context.chains, request.params.chain)
      const id = parseOrderId(request.params.id)
      const order = id === undefined ? undefined : await findOrder(context.store.read, id)
      const isOwn = order?.record.chain === slug && order.record.trader === callerOf(request).trader
      if (order?.state === undefined || !isOwn) {
        throw new ApiError('ORDER_NOT_FOUND', 'This account has no such order on this chain.')
      }
      return reply.type(JSON_TYPE).send(JSON.stringify(orderAnswer(order.record, order.state)))
    },
  )
}
