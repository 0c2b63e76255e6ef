import { AgentAnswerSchema, CreateAgentRequestSchema } from '@bezel/protocol'
import { provenAnswer } from '../../../agents/chainAgents.ts'
import { createAgent } from '../../../agents/createAgent.ts'
import { delegateIfKnown } from '../../../agents/delegates.ts'
import { defineRoute } from '../../route.ts'
import { masterOptions, type AgentRoutesContext } from './agentRoutes.ts'

export const createAgentRoute = defineRoute({
  method: 'POST',
  path: '/v1/:chain/agents',
  operationId: 'createAgent',
  tag: 'Agents',
  access: 'master',
  isRegistration: true,
  summary: 'Authorises an agent, or changes its name or scope',
  errors: ['TRADER_MISMATCH', 'UNSUPPORTED'],
  body: CreateAgentRequestSchema,
  responses: { 201: AgentAnswerSchema },
  async handler(context: AgentRoutesContext, request, reply) {
    const agents = context.agentsOf(request.params.chain)
    const record = await createAgent(agents, request.body, masterOptions(context, agents, request))
    const delegate = await delegateIfKnown(agents.delegates, record.trader)
    return reply.code(201).send(await provenAnswer(agents, record, delegate, context.now()))
  },
})
