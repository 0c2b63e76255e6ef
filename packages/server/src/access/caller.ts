import { ApiError, type Address, type ChainSlug } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { requiredDelegate, type ChainAgents } from '../agents/chainAgents.ts'
import type { AgentProof } from '../agents/proofs.ts'
import type { Registry } from '../agents/registry.ts'
import { requireInForce, needsDelegation, agentNotDelegated } from '../agents/agentRefusals.ts'
import { RENEWED_MS } from '../store/claimStore.ts'

/** The authenticated caller of a private operation. */
export type Caller =
  | { readonly via: 'agent'; readonly trader: Address; readonly agent: AgentRecord }
  | { readonly via: 'apiKey'; readonly trader: Address; readonly keyHash: string }

const callers = new WeakMap<FastifyRequest, Caller>()

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller)
}

/** Returns the caller that the hooks of the private route stored for this request. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (caller === undefined)
    throw new Error(`${request.method} ${request.url} has no caller: its route lacks an access rule`)
  return caller
}

/**
 * Returns the caller, which must belong to the trader that the request names, if it names one. Throws
 * `TRADER_MISMATCH`.
 */
export function requireNamedTrader<Found extends Caller>(caller: Found, named: Address | undefined): Found {
  if (named === undefined || named === caller.trader) return caller
  const message = `These credentials act for ${caller.trader}, and the request names ${named}. Nothing was done.`
  throw new ApiError('TRADER_MISMATCH', message, { trader: caller.trader, named })
}

/** Throws `TRADER_MISMATCH` unless the address of the path is the caller's own account. */
export function requireOwnAccount(request: FastifyRequest, address: Address): void {
  const { trader } = callerOf(request)
  if (trader === address) return
  const message = `These credentials act for ${trader}, and the path names ${address}.`
  throw new ApiError('TRADER_MISMATCH', message, { trader, named: address })
}

/**
 * Checks that a caller may still act, and notes that it did. An API key is valid until it is replaced or ended; an
 * agent must be neither revoked nor expired and, if its scope lets it trade, be the trader's on-chain delegate.
 */
export async function requireUsable(caller: Caller, agents: ChainAgents, nowMs: number): Promise<void> {
  let proof: AgentProof = 'seen'
  if (caller.via === 'agent') {
    const { agent: record } = caller
    requireInForce(record, nowMs)
    if (needsDelegation(record)) {
      const required = requiredDelegate(agents, record)
      if (!(await agents.delegates.isDelegate(record.trader, required))) throw agentNotDelegated(agents.chain, required)
      proof = 'used'
    }
  }
  await noteAccepted(caller, agents, proof)
}

/** Notes that a caller listens, so that its credentials are in use, at most once an hour. */
export async function noteListening(
  caller: Caller,
  { chain, registry }: Pick<ChainAgents, 'chain' | 'registry'>,
): Promise<void> {
  if (caller.via === 'apiKey') await registry.noteKeyUse(chain.slug, caller.keyHash, RENEWED_MS)
  else await registry.noteStanding(caller.agent, 'seen')
}

/** Notes an accepted request, and what it proves of an agent: `used` when the chain was asked. */
export async function noteAccepted(
  caller: Caller,
  { chain, registry }: { readonly chain: { readonly slug: ChainSlug }; readonly registry: Registry },
  proof: AgentProof,
): Promise<void> {
  if (caller.via === 'apiKey') await registry.noteKeyUse(chain.slug, caller.keyHash)
  else if (caller.agent.standing !== 'used') await registry.noteStanding(caller.agent, proof)
}
