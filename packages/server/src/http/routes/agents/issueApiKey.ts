import { ApiKeyAnswerSchema, IssueApiKeyRequestSchema } from '@bezel/protocol'
import { issueApiKey } from '../../../agents/apiKey.ts'
import { defineRoute } from '../../route.ts'
import { masterOptions, type AgentRoutesContext } from './agentRoutes.ts'

export const issueApiKeyRoute = defineRoute({
  method: 'POST',
  path: '/v1/:chain/api-keys',
  operationId: 'issueApiKey',
  tag: 'Agents',
  access: 'master',
  isRegistration: true,
  summary: 'Issues a read-only API key',
  description:
    'The key is shown only once. A second key with the same label replaces the first; a trader has at most 20.',
  errors: ['UNSUPPORTED'],
  body: IssueApiKeyRequestSchema,
  responses: { 200: ApiKeyAnswerSchema },
  async handler(context: AgentRoutesContext, request, reply) {
    const agents = context.agentsOf(request.params.chain)
    reply.header('cache-control', 'no-store')
    return issueApiKey(agents, request.body, masterOptions(context, agents, request))
  },
})
