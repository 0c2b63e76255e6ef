import { CreateOrderRequestSchema, PreparedOrderSchema } from '@bezel/protocol'
import { createOrder } from '../../../orders/createOrder.ts'
import { created, defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { OPEN_ERRORS } from './writeErrors.ts'

export const createOrderRoute = defineRoute({
  method: 'POST',
  path: '/v1/:chain/orders',
  operationId: 'createOrder',
  tag: 'Orders',
  access: 'write',
  summary: 'Prepares an order',
  description:
    'Checks the order, simulates its transaction and answers with it: the agent signs and sends that unchanged before `expiresAt` and may report its hash (submitOrder). Nothing is on the chain before that, and a refusal leaves nothing behind. ' +
    'Answers with 201 and the path of the order in `Location`, or with 200 and the earlier order when the trader has already used `clientId` for the same order. ' +
    'Its `transaction` is null from the first reported hash on, until it is out of date: it may still be mined.',
  errors: [...OPEN_ERRORS, 'POSITION_NOT_FOUND', 'IDEMPOTENCY_CONFLICT', 'TOO_MANY_PREPARED_ORDERS'],
  body: CreateOrderRequestSchema,
  responses: { 200: PreparedOrderSchema, 201: PreparedOrderSchema },
  async handler({ ordersOf }: WriteContext, request, reply) {
    const orders = ordersOf(request.params.chain)
    const { prepared, isRepeat } = await createOrder(orders, signedWriteOf(request), request.body)
    if (isRepeat) return prepared
    return created(reply, `/v1/${orders.chain.slug}/orders/${prepared.order.id}`).send(prepared)
  },
})
