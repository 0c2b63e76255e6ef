import { ApiError, RevokeApiKeyAnswerSchema } from '@bezel/protocol'
import type { PrivateContext } from '../../../access/authenticateCall.ts'
import { originOf } from '../../hooks/registerHooks.ts'
import { walletCallOf } from '../../hooks/requireWallet.ts'
import { defineRoute } from '../../route.ts'
import type { AgentRoutesContext } from './agentRoutes.ts'

export const revokeApiKeyRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/:chain/api-keys/:label',
  operationId: 'revokeApiKey',
  tag: 'Agents',
  access: 'wallet',
  summary: 'Ends a read-only API key',
  description:
    "Signed by the trader's own wallet, with its address as the agent's. Agents can't end keys: a stolen agent must not end the keys that watch it.",
  errors: ['NOT_FOUND'],
  responses: { 200: RevokeApiKeyAnswerSchema },
  async handler(context: PrivateContext & Pick<AgentRoutesContext, 'trustedProxies'>, request) {
    const { chain, label } = request.params
    const { chain: served, registry } = context.agentsOf(chain)
    const { trader, claim } = walletCallOf(request)
    const key = { chain: served.slug, trader, label }
    const isEnded = await registry.endKey(key, claim, originOf(request, context.trustedProxies))
    if (!isEnded) throw new ApiError('NOT_FOUND', `This trader has no API key with the label ${JSON.stringify(label)}.`)
    return { label, trader }
  },
})
