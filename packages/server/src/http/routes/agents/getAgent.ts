import { AgentAnswerSchema } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { agentAnswer } from '../../../agents/agentAnswer.ts'
import { delegateIfKnown } from '../../../agents/delegates.ts'
import { agentNotFound } from '../../../agents/revokeAgent.ts'
import { addressParam, type AgentRoutesContext } from './agentRoutes.ts'

/** GET /v1/{chain}/agents/{address}: public; its status is as live as the node. */
export function getAgent(app: FastifyInstance, context: AgentRoutesContext): void {
  const schema = { operationId: 'getAgent', response: { 200: AgentAnswerSchema } }
  app.get<{ Params: { chain: string; address: string } }>('/v1/:chain/agents/:address', { schema }, async (request) => {
    const agents = context.agentsOf(request.params.chain)
    const { chain, registry, delegates } = agents
    const record = registry.agent(chain.slug, addressParam(request.params.address))
    if (record === undefined) throw agentNotFound()
    return agentAnswer(agents, record, await delegateIfKnown(delegates, record.trader), context.now())
  })
}
