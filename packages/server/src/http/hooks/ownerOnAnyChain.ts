import { ApiError, type Address, type ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import { requireInForce } from '../../agents/agentRefusals.ts'
import { hashApiKey } from '../../agents/apiKey.ts'
import type { SignedOperation } from '../../signatures/verifyRequest.ts'
import { callerOf, noteAccepted } from '../../access/caller.ts'
import type { AuthenticateOptions } from '../../access/authenticateCall.ts'
import { addressParam } from '../parameters.ts'
import { authenticateRead } from './authenticate.ts'
import { readApiKey, readSignatureHeaders } from '../../access/signatureHeaders.ts'

/** The context of the hook for operations whose path names no chain. */
export interface OwnerContext {
  readonly chains: readonly { readonly slug: ChainSlug }[]
  readonly authenticate: AuthenticateOptions
  readonly now: () => number
}

/**
 * Returns the hook of a private operation whose path names a wallet and no chain. It accepts an API key of that trader
 * from any chain, or the signature of an agent that is registered for the trader. A signature is bound to a chain, so
 * it is checked against the domain of each chain on which the agent is registered for this trader. No transaction
 * follows, so the agent need not be the on-chain delegate, and the limit of writes is not charged.
 */
export function requireOwnerOnAnyChain(context: OwnerContext, operation: SignedOperation) {
  return async (request: FastifyRequest): Promise<void> => {
    const owner = addressParam((request.params as { address: string }).address)
    const chains = await chainsToTry(request, owner, context)
    if (chains.length === 0) throw notTheOwner(context.authenticate.headerPrefix)
    const slug = await authenticateOnFirst(request, chains, operation, context.authenticate)
    const caller = callerOf(request)
    if (caller.trader !== owner) throw notTheOwner(context.authenticate.headerPrefix)
    if (caller.via === 'agent') requireInForce(caller.agent, context.now())
    await noteAccepted(caller, { chain: { slug }, registry: context.authenticate.registry }, 'seen')
  }
}

/** Lists the chains on which these credentials, if they are valid, belong to the owner. */
async function chainsToTry(
  request: FastifyRequest,
  owner: Address,
  { chains, authenticate }: OwnerContext,
): Promise<ChainSlug[]> {
  const { registry, headerPrefix } = authenticate
  const signed = readSignatureHeaders(request.headers, headerPrefix)
  const keyHash = signed === undefined ? hashApiKey(readApiKey(request.headers, headerPrefix) ?? '') : undefined
  const found: ChainSlug[] = []
  for (const { slug } of chains) {
    const trader =
      signed !== undefined
        ? (await registry.findAgent(slug, signed.agent))?.trader
        : keyHash && (await registry.keyOwner(slug, keyHash))
    if (trader === owner) found.push(slug)
  }
  return found
}

/**
 * Authenticates on the first chain that accepts the signature. A chain that does not accept it charges no limit and
 * claims no nonce, so the further attempts cost the agent nothing.
 */
async function authenticateOnFirst(
  request: FastifyRequest,
  chains: readonly ChainSlug[],
  operation: SignedOperation,
  options: AuthenticateOptions,
): Promise<ChainSlug> {
  for (const [at, chain] of chains.entries()) {
    try {
      await authenticateRead(request, { chain, operation }, options)
      return chain
    } catch (error) {
      const isForAnother = error instanceof ApiError && error.code === 'INVALID_SIGNATURE'
      if (!isForAnother || at === chains.length - 1) throw error
    }
  }
  throw notTheOwner(options.headerPrefix)
}

/** Returns a refusal that does not reveal which agents are registered for which trader. */
function notTheOwner(headerPrefix: string): ApiError {
  return new ApiError(
    'UNAUTHENTICATED',
    `Send an API key of this wallet as ${headerPrefix}Api-Key, or sign the request as one of its agents.`,
  )
}
