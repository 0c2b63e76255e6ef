import { ApiError, type Address } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { AgentRecord } from '../trading/agentRecord.ts'

/** Who is asking, once that is certain. */
export type Caller =
  | { readonly via: 'agent'; readonly trader: Address; readonly agent: AgentRecord }
  | { readonly via: 'apiKey'; readonly trader: Address; readonly keyHash: string }

const callers = new WeakMap<FastifyRequest, Caller>()

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller)
}

/** The caller of a private operation; only its hooks let a request come this far. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (caller === undefined)
    throw new Error(`${request.method} ${request.url} has no caller: its route lacks an access rule`)
  return caller
}

/** Throws `TRADER_MISMATCH` unless the address of the path is the caller's own account. */
export function requireOwnAccount(request: FastifyRequest, address: Address): void {
  if (callerOf(request).trader === address) return
  throw new ApiError('TRADER_MISMATCH', 'The address in the path is not the account these credentials belong to.')
}
