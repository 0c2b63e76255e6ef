import { OrderPageSchema, parseOrderId, type OrderId } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { listOrders } from '../../../store/orderStore.ts'
import { requirePrivateRead } from '../../hooks/privateRead.ts'
import { pageOf, pageQuery, type CursorFormat } from '../../pageCursor.ts'
import { JSON_TYPE } from '../markets/marketsOf.ts'
import { answersOf } from '../../../accounts/answersOf.ts'
import { ownAccount, type AccountContext, type AccountRoute } from './accountRoutes.ts'

/** The id of the last order of a page, with a letter that tells this list's cursors from others. */
const CURSOR: CursorFormat<OrderId> = {
  toText: (id) => `o${id}`,
  fromText: (text) => (text.startsWith('o') ? parseOrderId(text.slice(1)) : undefined),
}

/** Above every id. */
const NEWEST = String(Number.MAX_SAFE_INTEGER) as OrderId

/** GET /v1/{chain}/account/{address}/orders/history: every order, newest first, in pages. */
export function listOrderHistory(app: FastifyInstance, context: AccountContext): void {
  const schema = { operationId: 'listOrderHistory', response: { 200: OrderPageSchema } }
  app.get<AccountRoute & { Querystring: Record<string, unknown> }>(
    '/v1/:chain/account/:address/orders/history',
    { schema, preValidation: requirePrivateRead(context, 'listOrderHistory') },
    async (request, reply) => {
      const { chain, trader } = ownAccount(context, request)
      const { cursor, limit } = pageQuery(request.query, CURSOR)
      const orders = await listOrders(context.store.read, chain, trader, cursor ?? NEWEST, limit + 1)
      const { items, nextCursor } = pageOf(orders, limit, ({ record }) => record.id, CURSOR)
      return reply.type(JSON_TYPE).send(JSON.stringify({ data: answersOf(items), nextCursor }))
    },
  )
}
