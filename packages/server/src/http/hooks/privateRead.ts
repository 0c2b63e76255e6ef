import { ApiError, type ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import { agentStatus } from '../../agents/agentRecord.ts'
import type { ChainAgents } from '../../agents/chainAgents.ts'
import { delegationTx } from '../../agents/delegationTx.ts'
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
  const isReader = record.scope.permissions === 'read'
  const early = agentStatus(record, true, nowMs)
  if (early === 'revoked') throw new ApiError('AGENT_REVOKED', 'The trader revoked this agent.')
  if (early === 'expired') throw new ApiError('AGENT_EXPIRED', "The expiry of this agent's scope has passed.")
  if (isReader || record.agent === record.trader) return
  const delegate = await agents.delegates.read(record.trader)
  if (delegate === record.agent) return
  throw new ApiError(
    'AGENT_NOT_DELEGATED',
    "The trader's on-chain delegate is not this agent: the trader sends details.delegationTx once.",
    { delegationTx: delegationTx(agents.chain, record.agent) },
  )
}
