import { AccountSchema } from '@bezel/protocol'
import { marketsOf } from '../markets/marketsOf.ts'
import { ownAccount, type AccountContext } from './ownAccount.ts'
import { defineRoute, JSON_TYPE } from '../../route.ts'

export const getAccountRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/account/:address',
  operationId: 'getAccount',
  tag: 'Account',
  access: 'read',
  summary: 'Reads the balances, allowances and agents of an account',
  description:
    'Balances and allowances are as of a recent block. An opening needs `balance` and `allowance` for its collateral.',
  errors: ['TRADER_MISMATCH'],
  responses: { 200: AccountSchema },
  async handler(context: AccountContext, request, reply) {
    const { chain, trader } = ownAccount(context, request)
    // The list of collaterals is read together with the markets, so this throws `NOT_READY` until they are loaded.
    marketsOf(context, chain).freshness.loaded()
    return reply.type(JSON_TYPE).send(await context.accountsOf(chain).accountText(trader))
  },
})
