import type { PrivateContext } from '../../access/authenticateCall.ts'
import { requireUsable } from '../../access/requireUsable.ts'
import type { ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { SignedOperation } from '../../signatures/signedOperations.ts'
import { callerOf } from '../../access/caller.ts'
import { authenticateRead } from './authenticate.ts'

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
