import { ApiError, parseAddress, type Address } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import type { ChainAgents } from '../../../agents/chainAgents.ts'
import type { MasterSignatureOptions } from '../../../agents/masterSignature.ts'
import { networkOf } from '../../../access/ipAddress.ts'
import type { Limits } from '../../../access/limits.ts'
import { REPLAY_WINDOW_MS } from '../../../access/nonces.ts'
import type { SignatureEngine } from '../../../signatures/signatureEngine.ts'
import { ipOf } from '../../hooks/chargeIp.ts'
import { recordLimitAnswer } from '../../../access/limitAnswers.ts'

/** A contract wallet's check costs a node a call, and a stranger can ask for it: this many a minute from one IP. */
const CONTRACT_CALLS_PER_MINUTE = 10

/** What the routes of agents and API keys have in common. */
export interface AgentRoutesContext {
  /** Throws `CHAIN_NOT_FOUND`. */
  readonly agentsOf: (slug: string) => ChainAgents
  readonly engine: SignatureEngine
  /** Counts only calls for contract wallets, apart from the limits of requests. */
  readonly contractCalls: Limits
  readonly trustedProxies: number
  readonly now: () => number
}

/** How a struct of the master wallet in this request is checked. */
export function masterOptions(
  context: AgentRoutesContext,
  { client }: ChainAgents,
  request: FastifyRequest,
): MasterSignatureOptions {
  const { engine, contractCalls, trustedProxies, now } = context
  const nowMs = now()
  return {
    engine,
    client,
    windowMs: REPLAY_WINDOW_MS,
    nowMs,
    chargeContractCall: async () => {
      const key = networkOf(ipOf(request, trustedProxies))
      const bucket = { scope: 'ip', key, limit: CONTRACT_CALLS_PER_MINUTE } as const
      recordLimitAnswer(request, await contractCalls.take([bucket], nowMs))
    },
  }
}

/** The `{address}` of a path. */
export function addressParam(text: string): Address {
  const address = parseAddress(text)
  if (address !== undefined) return address
  const message = 'must be 0x and 40 hex characters'
  throw new ApiError('VALIDATION_ERROR', `The address in the path ${message}.`, {
    issues: [{ path: 'params.address', message }],
  })
}
