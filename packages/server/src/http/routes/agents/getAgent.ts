import { AgentAnswerSchema } from '@bezel/protocol'
import { provenAnswer } from '../../../agents/chainAgents.ts'
import { delegateIfKnown } from '../../../agents/delegates.ts'
import { agentNotFound } from '../../../agents/revokeAgent.ts'
import { addressParam } from '../../parameters.ts'
import { defineRoute } from '../../route.ts'
import type { AgentRoutesContext } from './agentRoutes.ts'

export const getAgentRoute = defineRoute({
  method: 'GET',
  path: '/v1/:chain/agents/:address',
  operationId: 'getAgent',
  tag: 'Agents',
  access: 'public',
  summary: 'Reads an agent and its status',
  description: 'While its status is `pending_delegation`, the trader has to send `delegationTx`.',
  errors: ['AGENT_NOT_FOUND'],
  responses: { 200: AgentAnswerSchema },
  async handler(context: AgentRoutesContext, { params }) {
    const agents = context.agentsOf(params.chain)
    const { chain, registry, delegates } = agents
    const record = await registry.findAgent(chain.slug, addressParam(params.address))
    if (record === undefined) throw agentNotFound()
    return provenAnswer(agents, record, await delegateIfKnown(delegates, record.trader), context.now())
  },
})
