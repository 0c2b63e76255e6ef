import { AccountSchema } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { requirePrivateRead } from '../../hooks/privateRead.ts'
import { JSON_TYPE, marketsOf } from '../markets/marketsOf.ts'
import { ownAccount, type AccountContext, type AccountRoute } from './accountRoutes.ts'

/** GET /v1/{chain}/account/{address}: balances, allowances and agents of the caller's own account. */
export function getAccount(app: FastifyInstance, context: AccountContext): void {
  const schema = { operationId: 'getAccount', response: { 200: AccountSchema } }
  app.get<AccountRoute>(
    '/v1/:chain/account/:address',
    { schema, preValidation: requirePrivateRead(context, 'getAccount') },
    async (request, reply) => {
      const { chain, trader } = ownAccount(context, request)
      // Which collaterals there are is known with the markets.
      marketsOf(context, chain).freshness.loaded()
      return reply.type(JSON_TYPE).send(await context.accountsOf(chain).accountText(trader))
    },
  )
}
