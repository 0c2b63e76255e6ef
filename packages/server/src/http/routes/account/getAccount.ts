import { AccountSchema, type Address, type ChainSlug } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { agentAnswer } from '../../../agents/agentAnswer.ts'
import { requirePrivateRead } from '../../hooks/privateRead.ts'
import { marketsOf } from '../markets/marketsOf.ts'
import { ownAccount, type AccountContext, type AccountRoute } from './accountRoutes.ts'

/** GET /v1/{chain}/account/{address}: balances, allowances and agents of the caller's own account. */
export function getAccount(app: FastifyInstance, context: AccountContext): void {
  const schema = { operationId: 'getAccount', response: { 200: AccountSchema } }
  app.get<AccountRoute>(
    '/v1/:chain/account/:address',
    { schema, preValidation: requirePrivateRead(context, 'getAccount') },
    async (request) => {
      const { chain, trader } = ownAccount(context, request)
      return accountOf(context, chain, trader)
    },
  )
}

async function accountOf(context: AccountContext, slug: ChainSlug, trader: Address) {
  const { chain, registry, delegates } = context.agentsOf(slug)
  const { collaterals } = marketsOf(context, slug).freshness.loaded()
  const holdings = await context.accountsOf(slug).holdings(trader, collaterals)
  const { balances, feeTierMultiplier, referrer } = holdings
  // The background round may have looked since.
  const delegate = delegates.known(trader) ?? holdings.delegate
  const nowMs = context.now()
  const agents = registry.agentsOf(slug, trader).map((record) => agentAnswer(chain, record, delegate, nowMs).agent)
  return { address: trader, balances, feeTierMultiplier, referrer, agents }
}
