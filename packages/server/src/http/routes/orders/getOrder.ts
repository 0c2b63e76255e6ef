import { ApiError, OrderSchema, parseOrderId } from '@bezel/protocol'
import { findOrder, type StoredOrder } from '../../../store/orderStore.ts'
import { orderAnswer } from '../../../trading/orders/orderModel.ts'
import { ownChain, type AccountContext } from '../account/ownAccount.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

export type GetOrderContext = Pick<AccountContext, 'chains' | 'store' | 'isKnown'>

export const getOrderRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/orders/:id',
  operationId: 'getOrder',
  tag: 'Orders',
  access: 'read',
  summary: 'Reads one order',
  description:
    "Read it until `status` is one that stays, or follow the channel `orders` of the WebSocket. Another trader's order is answered like one that does not exist.",
  errors: ['ORDER_NOT_FOUND'],
  responses: { 200: OrderSchema },
  async handler(context: GetOrderContext, request, reply) {
    const { chain, trader } = ownChain(context, request)
    const id = parseOrderId(request.params.id)
    const order = id === undefined ? undefined : await findOrder(context.store.read, id)
    const isOwn = order?.record.chain === chain && order.record.trader === trader
    return reply.type(JSON_TYPE).send(orderText(isOwn ? order : undefined))
  },
})

/** Returns an order as JSON. Throws `ORDER_NOT_FOUND` when there is none, or none any more after a reorganisation. */
export function orderText(order: StoredOrder | undefined): string {
  if (order?.state !== undefined) return JSON.stringify(orderAnswer(order.record, order.state))
  throw new ApiError('ORDER_NOT_FOUND', 'This account has no such order on this chain.')
}
