import type { ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import { agentNotDelegated, requireInForce } from '../../agents/agentRefusals.ts'
import type { ChainAgents } from '../../agents/chainAgents.ts'
import type { SignedOperation } from '../../signatures/signedOperations.ts'
import { callerOf } from '../caller.ts'
import { authenticateRead, type AuthenticateOptions } from './authenticate.ts'

export interface PrivateContext {
  /** Throws `CHAIN_NOT_FOUND`. */
  readonly agentsOf: (slug: string) => ChainAgents
  readonly authenticate: AuthenticateOptions
  readonly now: () => number
}

/** The hook of a private read: who asks, then whether they still may. */
export function requirePrivateRead(context: PrivateContext, operation: SignedOperation) {
  return async (request: FastifyRequest): Promise<void> => {
    const agents = context.agentsOf((request.params as { chain: string }).chain)
    const chain: ChainSlug = agents.chain.slug
    await authenticateRead(request, { chain, operation }, context.authenticate)
    await requireUsableAgent(request, agents, context.now())
  }
}

/** An API key is good until it is replaced; an agent must be neither revoked nor expired and, to trade, the trader's delegate. */
async function requireUsableAgent(request: FastifyRequest, agents: ChainAgents, nowMs: number): Promise<void> {
  const caller = callerOf(request)
  if (caller.via === 'apiKey') return
  const { agent: record } = caller
  requireInForce(record, nowMs)
  if (record.scope.permissions === 'read' || record.agent === record.trader) return
  if (!(await agents.delegates.isDelegate(record.trader, record.agent))) throw agentNotDelegated(agents.chain, record)
}
