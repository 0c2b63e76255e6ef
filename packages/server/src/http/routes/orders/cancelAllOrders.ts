import { BATCH_FIELDS, BATCH_NEXT_PATTERN, PreparedBatchSchema, type FlattenRequest } from '@bezel/protocol'
import { flatten } from '../../../orders/flatten.ts'
import { defineRoute } from '../../route.ts'
import { signedWriteOf, type WriteContext } from '../../hooks/authenticate.ts'
import { queryRefusal, readMarketParameter, unknownParameters } from '../../parameters.ts'
import { BATCH_ERRORS } from './writeErrors.ts'

const { market, next } = BATCH_FIELDS

const QUERY = {
  market: { schema: market, description: `${market.description} \`BTC-USD\` is the same as \`BTC%2FUSD\`.` },
  next: { schema: next, description: next.description! },
}

export const cancelAllOrdersRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/:chain/orders',
  operationId: 'cancelAllOrders',
  tag: 'Orders',
  access: 'write',
  summary:
    'Prepares the cancellation of all resting orders and the reclaim of all timed-out ones, and withdraws prepared ones',
  description:
    'Looks at up to 20 orders, oldest first, and prepares one transaction for them; `next` leads to the following ones. ' +
    'An order that can not be ended, because it waits for the oracle, the contracts would revert or the scope does not ' +
    'name its market, is left out and named, and the others go on without it. The whole page counts as one write.',
  errors: [...BATCH_ERRORS, 'ORDER_NOT_MODIFIABLE'],
  query: QUERY,
  responses: { 200: PreparedBatchSchema },
  handler: async ({ ordersOf }: WriteContext, request) =>
    flatten(ordersOf(request.params.chain), signedWriteOf(request), 'orders', batchQuery(request.query)),
})

/** Reads the query of a batch. Throws `VALIDATION_ERROR` for a bad value and for an unknown parameter. */
function batchQuery(query: Readonly<Record<string, unknown>>): FlattenRequest {
  const issues = unknownParameters(query, QUERY)
  const symbol = readMarketParameter(query.market, issues)
  const after = typeof query.next === 'string' && BATCH_NEXT_PATTERN.test(query.next) ? query.next : undefined
  if (query.next !== undefined && after === undefined) {
    issues.push({ path: 'query.next', message: 'must be the next of an earlier answer' })
  }
  if (issues.length > 0) throw queryRefusal(issues)
  return { ...(symbol === undefined ? {} : { market: symbol }), ...(after === undefined ? {} : { next: after }) }
}
