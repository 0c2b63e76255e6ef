import { OrderListSchema } from '@bezel/protocol'
import { notReady } from '../../../ground/unavailable.ts'
import { listLiveOrders } from '../../../store/orderStore.ts'
import { answersOf } from '../../../trading/orders/orderModel.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

export const listOpenOrdersRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/orders',
  operationId: 'listOpenOrders',
  tag: 'Account',
  access: 'read',
  summary:
    'Lists the orders that are pending, open, timed out and not reclaimed, or prepared and not expired, newest first',
  errors: ['TRADER_MISMATCH'],
  responses: { 200: OrderListSchema },
  async handler(context: AccountContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    // While the follower lags, an order that was filled meanwhile would still be listed as open.
    const reason = context.followerReason(chain)
    if (reason !== undefined) throw notReady(reason)
    const data = answersOf(await listLiveOrders(context.store.read, chain, trader))
    return reply.type(JSON_TYPE).send(JSON.stringify({ data }))
  },
})
