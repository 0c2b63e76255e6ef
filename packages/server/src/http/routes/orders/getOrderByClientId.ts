import { MAX_CLIENT_ID_CHARS, OrderSchema } from '@bezel/protocol'
import { Type } from '@sinclair/typebox'
import { findOrderByClientId } from '../../../store/orderStore.ts'
import { queryRefusal, unknownParameters } from '../../parameters.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'
import { ownChain } from '../account/ownAccount.ts'
import { orderText, type GetOrderContext } from './getOrder.ts'

const QUERY = {
  clientId: {
    schema: Type.String({ minLength: 1, maxLength: MAX_CLIENT_ID_CHARS }),
    description: `Idempotency key of the order, 1 to ${MAX_CLIENT_ID_CHARS} characters.`,
    isRequired: true,
  },
}

export const getOrderByClientIdRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/orders',
  operationId: 'getOrderByClientId',
  tag: 'Orders',
  access: 'read',
  summary: "Reads the order that was created with one of the trader's idempotency keys",
  description:
    'A key belongs to one trader on one chain, and to one order for ever. ORDER_NOT_FOUND after a lost answer of createOrder means that nothing was stored under the key: send the order again.',
  errors: ['ORDER_NOT_FOUND'],
  query: QUERY,
  responses: { 200: OrderSchema },
  async handler(context: GetOrderContext, request, reply) {
    const { chain, trader } = ownChain(context, request)
    const clientId = clientIdOf(request.query)
    const order = await findOrderByClientId(context.store.read, chain, trader, clientId)
    return reply.type(JSON_TYPE).send(orderText(order))
  },
})

/** Reads the key. Throws `VALIDATION_ERROR`. Its length is counted in characters, as in the body of createOrder. */
function clientIdOf(query: Readonly<Record<string, unknown>>): string {
  const issues = unknownParameters(query, QUERY)
  const { clientId } = query
  if (clientId === undefined) issues.push({ path: 'query.clientId', message: 'is missing' })
  else if (typeof clientId !== 'string' || clientId === '' || [...clientId].length > MAX_CLIENT_ID_CHARS) {
    issues.push({ path: 'query.clientId', message: `must be one text of 1 to ${MAX_CLIENT_ID_CHARS} characters` })
  }
  if (issues.length > 0) throw queryRefusal(issues)
  return clientId as string
}
