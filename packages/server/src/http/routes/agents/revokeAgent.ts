import { RevokeAgentAnswerSchema, RevokeAgentRequestSchema } from '@bezel/protocol'
import { revocationTx } from '../../../agents/agentRefusals.ts'
import { revokeAgent } from '../../../agents/revokeAgent.ts'
import { addressParam } from '../../parameters.ts'
import { defineRoute } from '../../route.ts'
import { masterOptions, type AgentRoutesContext } from './agentRoutes.ts'

export const revokeAgentRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/:chain/agents/:address',
  operationId: 'revokeAgent',
  tag: 'Agents',
  access: 'master',
  summary: 'Revokes an agent',
  description:
    'The service refuses the agent from now on. `revocationTx` is the transaction that the trader sends to revoke it on the chain too. What the relayer had not sent for it yet is never sent; `mayStillBeMined` names the rest.',
  errors: ['AGENT_NOT_FOUND'],
  body: RevokeAgentRequestSchema,
  responses: { 200: RevokeAgentAnswerSchema },
  async handler(context: AgentRoutesContext, request) {
    const agents = context.agentsOf(request.params.chain)
    const agent = addressParam(request.params.address)
    const record = await revokeAgent(agents, agent, request.body, masterOptions(context, agents, request))
    const mayStillBeMined = await context.burnRevoked(agents.chain.slug, record.trader)
    return {
      revocationTx: record.agent === record.trader ? null : revocationTx(agents.chain),
      mayStillBeMined: [...mayStillBeMined],
    }
  },
})
