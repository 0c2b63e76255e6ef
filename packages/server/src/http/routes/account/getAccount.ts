import { AccountSchema, type Address } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { readHoldings } from '../../../accounts/readHoldings.ts'
import { agentAnswer } from '../../../agents/agentAnswer.ts'
import { requireOwnAccount } from '../../caller.ts'
import { requirePrivateRead, type PrivateContext } from '../../hooks/privateRead.ts'
import { addressParam } from '../agents/agentRoutes.ts'
import { marketsOf, type MarketsContext } from '../markets/marketsOf.ts'

export type AccountContext = PrivateContext & MarketsContext

/** GET /v1/{chain}/account/{address}: balances, allowances and agents of the caller's own account. */
export function getAccount(app: FastifyInstance, context: AccountContext): void {
  const schema = { operationId: 'getAccount', response: { 200: AccountSchema } }
  app.get<{ Params: { chain: string; address: string } }>(
    '/v1/:chain/account/:address',
    { schema, preValidation: requirePrivateRead(context, 'getAccount') },
    async (request) => {
      const { chain: slug, address } = request.params
      const trader = addressParam(address)
      requireOwnAccount(request, trader)
      return accountOf(context, slug, trader)
    },
  )
}

async function accountOf(context: AccountContext, slug: string, trader: Address) {
  const { chain, client, registry, delegates } = context.agentsOf(slug)
  const { collaterals } = marketsOf(context, slug).freshness.loaded()
  const { balances, referrer, delegate } = await readHoldings(client, chain, collaterals, trader)
  delegates.learn(trader, delegate)
  const nowMs = context.now()
  return {
    address: trader,
    balances,
    // Fee tiers are cached per day on chain; reading them comes with the follower.
    feeTierMultiplier: null,
    referrer,
    agents: registry.agentsOf(chain.slug, trader).map((record) => agentAnswer(chain, record, delegate, nowMs).agent),
  }
}
