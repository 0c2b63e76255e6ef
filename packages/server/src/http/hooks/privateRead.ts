import type { ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import { agentNotDelegated, needsDelegation, requireInForce } from '../../agents/agentRefusals.ts'
import type { ChainAgents } from '../../agents/chainAgents.ts'
import { requiredDelegate } from '../../agents/requiredDelegate.ts'
import type { SignedOperation } from '../../signatures/signedOperations.ts'
import { callerOf, type Caller } from '../caller.ts'
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
    await requireUsable(callerOf(request), agents, context.now())
    agents.delegates.touch(callerOf(request).trader)
  }
}

/** An API key is good until it is replaced; an agent must be neither revoked nor expired and, to trade, the trader's delegate. */
export async function requireUsable(caller: Caller, agents: ChainAgents, nowMs: number): Promise<void> {
  if (caller.via === 'apiKey') return
  const { agent: record } = caller
  requireInForce(record, nowMs)
  if (!needsDelegation(record)) return
  const required = requiredDelegate(agents, record)
  if (!(await agents.delegates.isDelegate(record.trader, required))) throw agentNotDelegated(agents.chain, required)
}
