import { AgentAnswerSchema, CreateAgentRequestSchema } from '@bezel/protocol'
import { provenAnswer } from '../../../agents/chainAgents.ts'
import { createAgent } from '../../../agents/createAgent.ts'
import { delegateIfKnown } from '../../../agents/delegates.ts'
import { created, defineRoute } from '../../route.ts'
import { masterOptions, type AgentRoutesContext } from './agentRoutes.ts'

export const createAgentRoute = defineRoute({
  method: 'POST',
  path: '/v1/:chain/agents',
  operationId: 'createAgent',
  tag: 'Agents',
  access: 'master',
  isRegistration: true,
  summary: 'Authorises an agent, or changes its name or scope',
  description:
    'The trader then sends `delegationTx` once per chain; until it is mined, requests of the agent answer AGENT_NOT_DELEGATED. TRADER_MISMATCH means that the agent serves another trader: send `agentSignature`, or use another key.',
  errors: ['TRADER_MISMATCH', 'UNSUPPORTED'],
  body: CreateAgentRequestSchema,
  responses: { 201: AgentAnswerSchema },
  async handler(context: AgentRoutesContext, request, reply) {
    const agents = context.agentsOf(request.params.chain)
    const record = await createAgent(agents, request.body, masterOptions(context, agents, request))
    const delegate = await delegateIfKnown(agents.delegates, record.trader)
    const answer = await provenAnswer(agents, record, delegate, context.now())
    return created(reply, `/v1/${agents.chain.slug}/agents/${record.agent}`).send(answer)
  },
})
