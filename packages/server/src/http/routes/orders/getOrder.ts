import { ApiError, OrderSchema, parseOrderId } from '@bezel/protocol'
import { findOrder } from '../../../store/orderStore.ts'
import { orderAnswer } from '../../../trading/orders/orderModel.ts'
import { callerOf } from '../../../access/caller.ts'
import { servedChainOf } from '../../../chain/servedChain.ts'
import type { AccountContext } from '../account/ownAccount.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

type GetOrderContext = Pick<AccountContext, 'chains' | 'store'>

export const getOrderRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/orders/:id',
  operationId: 'getOrder',
  tag: 'Orders',
  access: 'read',
  summary: 'Reads one order',
  description: "Another trader's order is answered like one that does not exist.",
  errors: ['ORDER_NOT_FOUND'],
  responses: { 200: OrderSchema },
  async handler(context: GetOrderContext, request, reply) {
    const { slug } = servedChainOf(context.chains, request.params.chain)
    const id = parseOrderId(request.params.id)
    const order = id === undefined ? undefined : await findOrder(context.store.read, id)
    const isOwn = order?.record.chain === slug && order.record.trader === callerOf(request).trader
    if (order?.state === undefined || !isOwn) {
      throw new ApiError('ORDER_NOT_FOUND', 'This account has no such order on this chain.')
    }
    return reply.type(JSON_TYPE).send(JSON.stringify(orderAnswer(order.record, order.state)))
  },
})
