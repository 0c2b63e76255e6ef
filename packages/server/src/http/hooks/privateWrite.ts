import type { PrivateContext } from '../../access/authenticateCall.ts'
import { ApiError } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import { agentNotDelegated, requireInForce } from '../../agents/agentRefusals.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { SignedWrite } from '../../orders/signedWrite.ts'
import type { SignedOperation } from '../../signatures/signedOperations.ts'
import { authenticateWrite } from './authenticate.ts'

export interface WriteContext extends PrivateContext {
  /** Requests per minute. */
  readonly agentWritesLimit: number
}

const writes = new WeakMap<FastifyRequest, SignedWrite>()

/**
 * The hook of a write: who asks, then whether they still may. Whether the chain lets the agent act is asked together with the
 * simulation, in the one round trip of a write; the rest of the scope needs to know what exactly is to happen.
 */
export function requirePrivateWrite(context: WriteContext, operation: SignedOperation) {
  return async (request: FastifyRequest): Promise<void> => {
    const { chain, delegates } = context.agentsOf((request.params as { chain: string }).chain)
    requireWritable(chain)
    const access = { chain: chain.slug, operation }
    const write = await authenticateWrite(request, access, context.authenticate, context.agentWritesLimit)
    requireInForce(write.agent, context.now())
    requireTradingAgent(chain, write)
    delegates.touch(write.agent.trader)
    writes.set(request, write)
  }
}

/** The write a request is, which only its hook can say. */
export function signedWriteOf(request: FastifyRequest): SignedWrite {
  const write = writes.get(request)
  if (write === undefined)
    throw new Error(`${request.method} ${request.url} is no signed write: its route lacks the hook`)
  return write
}

function requireWritable({ slug, writes: isWritable }: ServedChain): void {
  if (isWritable) return
  throw new ApiError('UNSUPPORTED', `This deployment only reads on ${slug}: it prepares no transactions there.`)
}

/** One delegate per trader: of an agent that came through the facade the relayer is it, so its own transactions would revert. */
function requireTradingAgent(chain: ServedChain, { agent: record }: SignedWrite): void {
  if (record.scope.permissions === 'read') {
    throw new ApiError('SCOPE_READ_ONLY', "This agent's scope lets it read only.")
  }
  if (record.mode === 'relayed' && record.agent !== record.trader) throw agentNotDelegated(chain, record.agent)
}
