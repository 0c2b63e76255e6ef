import { OrderPageSchema, type OrderId } from '@bezel/protocol'
import { listOrders } from '../../../store/orderStore.ts'
import { PAGE_QUERY, pageOf, pageQuery } from '../../parameters.ts'
import { answersOf } from '../../../trading/orders/orderModel.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { idCursors } from './selection.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

const CURSOR = idCursors('o')

/** The cursor of the first page, above every id. */
const NEWEST = String(Number.MAX_SAFE_INTEGER) as OrderId

export const listOrderHistoryRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address/orders/history',
  operationId: 'listOrderHistory',
  tag: 'Account',
  access: 'read',
  summary: 'Lists all orders, newest first',
  description:
    'Also those that ended, and those of executions that nobody asked for here: stops, liquidations, trades made elsewhere. Read page after page with `cursor` until `nextCursor` is null.',
  errors: ['TRADER_MISMATCH'],
  query: PAGE_QUERY,
  responses: { 200: OrderPageSchema },
  async handler(context: AccountContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    const { cursor, limit } = pageQuery(request.query, CURSOR)
    const orders = await listOrders(context.store.read, chain, trader, cursor ?? NEWEST, limit + 1)
    const { items, nextCursor } = pageOf(orders, limit, ({ record }) => record.id, CURSOR)
    return reply.type(JSON_TYPE).send(JSON.stringify({ data: answersOf(items), nextCursor }))
  },
})
