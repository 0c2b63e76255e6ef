import { AgentAnswerSchema, CreateAgentRequestSchema, type CreateAgentRequest } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { agentAnswer } from '../../../agents/agentAnswer.ts'
import { createAgent as create } from '../../../agents/createAgent.ts'
import { delegateIfKnown } from '../../../agents/delegates.ts'
import { masterOptions, type AgentRoutesContext } from './agentRoutes.ts'

/** POST /v1/{chain}/agents: the master wallet authorises an agent. */
export function createAgent(app: FastifyInstance, context: AgentRoutesContext): void {
  const schema = {
    operationId: 'createAgent',
    body: CreateAgentRequestSchema,
    response: { 201: AgentAnswerSchema },
  }
  app.post<{ Params: { chain: string }; Body: CreateAgentRequest }>(
    '/v1/:chain/agents',
    { schema },
    async (request, reply) => {
      const agents = context.agentsOf(request.params.chain)
      const record = await create(agents, request.body, masterOptions(context, agents, request))
      const delegate = await delegateIfKnown(agents.delegates, record.trader)
      return reply.code(201).send(agentAnswer(agents, record, delegate, context.now()))
    },
  )
}
