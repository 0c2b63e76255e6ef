import { ApiKeyListSchema } from '@bezel/protocol'
import type { PrivateContext } from '../../../access/authenticateCall.ts'
import { walletCallOf } from '../../hooks/requireWallet.ts'
import { defineRoute } from '../../route.ts'

export const listApiKeysRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/api-keys',
  operationId: 'listApiKeys',
  tag: 'Agents',
  access: 'walletOrAgent',
  summary: "Lists the trader's read-only API keys",
  description:
    "Signed by the trader's own wallet, with its address as the agent's and without any registration, or by an agent of the trader. The keys themselves are not kept.",
  errors: [],
  responses: { 200: ApiKeyListSchema },
  async handler({ agentsOf }: PrivateContext, request) {
    const { chain, registry } = agentsOf(request.params.chain)
    const keys = await registry.listKeys(chain.slug, walletCallOf(request).trader)
    const data = keys.map(({ label, createdAtMs, lastUsedAtMs }) => ({
      label,
      createdAt: createdAtMs,
      lastUsedAt: lastUsedAtMs,
    }))
    return { data }
  },
})
