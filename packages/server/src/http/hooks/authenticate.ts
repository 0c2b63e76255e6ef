import { ApiError, type Address, type ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import {
  authenticateAgent,
  authenticateKey,
  type AuthenticateOptions,
  type PrivateContext,
  type SignedCall,
} from '../../access/authenticateCall.ts'
import type { OnCharge } from '../../access/admission.ts'
import { requireUnpaused, type Controls } from '../../access/controls.ts'
import { callerOf, requireNamedTrader, requireUsable, setCaller } from '../../access/caller.ts'
import { recordLimitAnswer } from '../../access/limits.ts'
import { readApiKey, readNamedTrader, readSignatureHeaders } from '../../access/signatureHeaders.ts'
import { agentNotDelegated, readOnlyAgent, requireInForce } from '../../agents/agentRefusals.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { ChainOrders } from '../../orders/chainOrders.ts'
import { refuseUndelegated, type SignedWrite } from '../../orders/signedWrite.ts'
import type { SignedOperation } from '../../signatures/verifyRequest.ts'
import { rawBody } from '../rawBody.ts'
import { claimOfWrite } from './noncesOfWrites.ts'

/** The context of the routes that write orders and positions. */
export interface WriteContext extends PrivateContext {
  /** Writes that one agent may send per minute. */
  readonly agentWritesLimit: number
  /** The operator's controls. */
  readonly controls: Pick<Controls, 'writesPaused' | 'isPaused'>
  /** Throws `CHAIN_NOT_FOUND`. */
  readonly ordersOf: (slug: string) => ChainOrders
}

/** The chain and the operation that a signature must name. */
interface Access {
  readonly chain: ChainSlug
  readonly operation: SignedOperation
}

const writes = new WeakMap<FastifyRequest, SignedWrite>()

/**
 * Returns the hook of a private read: it authenticates the caller, then checks that its credentials are still usable
 * (see `requireUsable`).
 */
export function requirePrivateRead(context: PrivateContext, operation: SignedOperation) {
  return async (request: FastifyRequest): Promise<void> => {
    const agents = context.agentsOf(chainParam(request))
    await authenticateRead(request, { chain: agents.chain.slug, operation }, context.authenticate)
    const caller = callerOf(request)
    await requireUsable(caller, agents, context.now())
    agents.delegates.touch(caller.trader)
  }
}

/**
 * Returns the first hook of a write: it authenticates the agent, then checks that it is still in force. The on-chain
 * delegate is read together with the simulation, in the one round trip of a write. The rest of the scope is checked
 * later, once the exact action is known.
 */
export function requirePrivateWrite(context: WriteContext, operation: SignedOperation) {
  return async (request: FastifyRequest): Promise<void> => {
    const { chain, delegates } = context.agentsOf(chainParam(request))
    requireWritable(chain)
    const access = { chain: chain.slug, operation }
    const write = await authenticateWrite(request, access, context.authenticate, context.agentWritesLimit)
    requireInForce(write.agent, context.now())
    // A report prepares nothing: it is about a transaction that the agent has sent.
    if (operation !== 'submitOrder') requireUnpaused(context.controls, write.agent)
    requireTradingAgent(chain, write)
    delegates.touch(write.agent.trader)
    writes.set(request, write)
  }
}

/**
 * Returns the second hook of a write, which refuses an invalid body. An agent that is not the on-chain delegate is told
 * that before it is told anything about its body.
 */
export function refuseInvalidWrite({ ordersOf }: Pick<WriteContext, 'ordersOf'>) {
  return async (request: FastifyRequest): Promise<void> => {
    if (request.validationError === undefined) return
    await refuseUndelegated(ordersOf(chainParam(request)), signedWriteOf(request))
    throw request.validationError
  }
}

/** Returns the signed write that the hook of the route stored for this request. */
export function signedWriteOf(request: FastifyRequest): SignedWrite {
  const write = writes.get(request)
  if (write === undefined)
    throw new Error(`${request.method} ${request.url} is no signed write: its route lacks the hook`)
  return write
}

/** Authenticates a private read: an agent by its signature, or a trader by an API key. */
export async function authenticateRead(
  request: FastifyRequest,
  access: Access,
  options: AuthenticateOptions,
): Promise<void> {
  const headers = readSignatureHeaders(request.headers, options.headerPrefix)
  const named = readNamedTrader(request.headers, options.headerPrefix)
  if (headers === undefined) return authenticateByKey(request, access.chain, options, named)
  const agent = await authenticateAgent(callOf(request, access), headers, options, recorderOf(request))
  setCaller(request, requireNamedTrader({ via: 'agent', trader: agent.trader, agent }, named))
}

async function authenticateByKey(
  request: FastifyRequest,
  chain: ChainSlug,
  options: AuthenticateOptions,
  named: Address | undefined,
): Promise<void> {
  const { headerPrefix } = options
  const key = readApiKey(request.headers, headerPrefix)
  if (key === undefined) {
    throw new ApiError('UNAUTHENTICATED', `Sign the request, or send a read-only key as ${headerPrefix}Api-Key.`)
  }
  const caller = await authenticateKey(chain, key, options, recorderOf(request), request.limitWeight)
  setCaller(request, requireNamedTrader(caller, named))
}

/**
 * Authenticates a write: always an agent, by its signature. Writes are charged to a bucket of their own besides the
 * agent's.
 */
async function authenticateWrite(
  request: FastifyRequest,
  access: Access,
  options: AuthenticateOptions,
  writesLimit: number,
): Promise<SignedWrite> {
  const headers = readSignatureHeaders(request.headers, options.headerPrefix)
  if (headers === undefined) {
    throw new ApiError('UNAUTHENTICATED', 'A write is signed by an agent; an API key can only read.')
  }
  const named = readNamedTrader(request.headers, options.headerPrefix)
  const bucket = { scope: 'agent-writes', key: `${access.chain} ${headers.agent}`, limit: writesLimit } as const
  const call = { ...callOf(request, access), isWrite: true }
  const agent = await authenticateAgent(call, headers, options, recorderOf(request), [bucket])
  const claim = claimOfWrite(request, options.nonces, {
    chain: access.chain,
    agent: agent.agent,
    nonce: headers.nonce,
    timestampMs: Number(headers.timestamp),
  })
  setCaller(request, requireNamedTrader({ via: 'agent', trader: agent.trader, agent }, named))
  const onProven: SignedWrite['onProven'] = (sql, proven) => options.registry.tellAgent(sql, proven, agent)
  return { agent, claim, relay: null, onProven }
}

export function chainParam(request: FastifyRequest): string {
  return (request.params as { chain: string }).chain
}

/** Returns the signed content of a request. */
export function callOf(request: FastifyRequest, { chain, operation }: Access): SignedCall {
  const { method = '', url: path = '' } = request.raw
  return { chain, operation, method, path, body: rawBody(request), weight: request.limitWeight }
}

/** Returns a callback that records each charge, so that the answer's headers report it even when the request fails. */
export function recorderOf(request: FastifyRequest): OnCharge {
  return (answer) => recordLimitAnswer(request, answer)
}

function requireWritable({ slug, writes: isWritable }: ServedChain): void {
  if (isWritable) return
  throw new ApiError('UNSUPPORTED', `This deployment only reads on ${slug}: it prepares no transactions there.`)
}

/**
 * Refuses an agent that can't trade itself. A trader has one on-chain delegate, and for an agent that was registered
 * through the facade that is the relayer, so the agent's own transactions would revert.
 */
function requireTradingAgent(chain: ServedChain, { agent: record }: SignedWrite): void {
  if (record.scope.permissions === 'read') throw readOnlyAgent()
  if (record.mode === 'relayed' && record.agent !== record.trader) throw agentNotDelegated(chain, record.agent)
}
