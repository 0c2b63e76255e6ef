import { ApiKeyAnswerSchema, IssueApiKeyRequestSchema, type IssueApiKeyRequest } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { issueApiKey as issue } from '../../../agents/issueApiKey.ts'
import { masterOptions, type AgentRoutesContext } from './agentRoutes.ts'

/** POST /v1/{chain}/api-keys: the master wallet gets a read-only key, shown once. */
export function issueApiKey(app: FastifyInstance, context: AgentRoutesContext): void {
  const schema = {
    operationId: 'issueApiKey',
    body: IssueApiKeyRequestSchema,
    response: { 200: ApiKeyAnswerSchema },
  }
  app.post<{ Params: { chain: string }; Body: IssueApiKeyRequest }>(
    '/v1/:chain/api-keys',
    { schema },
    async (request, reply) => {
      const agents = context.agentsOf(request.params.chain)
      reply.header('cache-control', 'no-store')
      return issue(agents, request.body, masterOptions(context, agents, request))
    },
  )
}
