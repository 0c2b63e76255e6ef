import { RevokeAgentAnswerSchema, RevokeAgentRequestSchema, type RevokeAgentRequest } from '@bezel/protocol'
import type { FastifyInstance } from 'fastify'
import { revocationTx } from '../../../agents/delegationTx.ts'
import { revokeAgent as revoke } from '../../../agents/revokeAgent.ts'
import { addressParam, masterOptions, type AgentRoutesContext } from './agentRoutes.ts'

/** DELETE /v1/{chain}/agents/{address}: the master wallet disables an agent here, and learns what to send to the chain. */
export function revokeAgent(app: FastifyInstance, context: AgentRoutesContext): void {
  const schema = {
    operationId: 'revokeAgent',
    body: RevokeAgentRequestSchema,
    response: { 200: RevokeAgentAnswerSchema },
  }
  app.delete<{ Params: { chain: string; address: string }; Body: RevokeAgentRequest }>(
    '/v1/:chain/agents/:address',
    { schema },
    async (request) => {
      const agents = context.agentsOf(request.params.chain)
      const agent = addressParam(request.params.address)
      const record = await revoke(agents, agent, request.body, masterOptions(context, agents, request))
      return { revocationTx: record.agent === record.trader ? null : revocationTx(agents.chain) }
    },
  )
}
