import { ApiError, type Address } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { requiredDelegate, type ChainAgents } from '../agents/chainAgents.ts'
import { requireInForce, needsDelegation, agentNotDelegated } from '../agents/agentRefusals.ts'

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
  if (callerOf(request).trader === address) return
  throw new ApiError('TRADER_MISMATCH', 'The address in the path is not the account these credentials belong to.')
}

/**
 * Checks that a caller may still act. An API key is valid until it is replaced; an agent must be neither revoked nor
 * expired and, if its scope lets it trade, be the trader's on-chain delegate.
 */
export async function requireUsable(caller: Caller, agents: ChainAgents, nowMs: number): Promise<void> {
  if (caller.via === 'apiKey') return
  const { agent: record } = caller
  requireInForce(record, nowMs)
  if (!needsDelegation(record)) return
  const required = requiredDelegate(agents, record)
  if (!(await agents.delegates.isDelegate(record.trader, required))) throw agentNotDelegated(agents.chain, required)
}
