import { OrderListSchema } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { notReady } from '../../../ground/notReady.ts'
import { listLiveOrders } from '../../../store/orderStore.ts'
import { requirePrivateRead } from '../../hooks/privateRead.ts'
import { JSON_TYPE } from '../markets/marketsOf.ts'
import { answersOf } from '../../../accounts/answersOf.ts'
import { ownAccount, type AccountContext, type AccountRoute } from './accountRoutes.ts'

/** GET /v1/{chain}/account/{address}/orders: what is prepared, waits for the oracle or rests on the chain, newest first. */
export function listOpenOrders(app: FastifyInstance, context: AccountContext): void {
  const schema = { operationId: 'listOpenOrders', response: { 200: OrderListSchema } }
  app.get<AccountRoute>(
    '/v1/:chain/account/:address/orders',
    { schema, preValidation: requirePrivateRead(context, 'listOpenOrders') },
    async (request, reply) => {
      const { chain, trader } = ownAccount(context, request)
      // An order that was filled since would still be shown as open.
      const reason = context.followerReason(chain)
      if (reason !== undefined) throw notReady(reason)
      const data = answersOf(await listLiveOrders(context.store.read, chain, trader))
      return reply.type(JSON_TYPE).send(JSON.stringify({ data }))
    },
  )
}
