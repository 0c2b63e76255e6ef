import type { FastifyRequest } from 'fastify'
import { recordLimitAnswer, type Limits } from '../../../access/limits.ts'
import { REPLAY_WINDOW_MS } from '../../../access/nonceMemory.ts'
import type { ChainAgents } from '../../../agents/chainAgents.ts'
import type { MasterSignatureOptions } from '../../../agents/masterSignature.ts'
import type { SignatureEngine } from '../../../signatures/recovery.ts'
import { networkOfRequest } from '../../hooks/registerHooks.ts'
import { rawBody } from '../../rawBody.ts'

/** Signature checks of contract wallets per minute and IP. Each costs a call to a node, and anybody can cause it. */
const CONTRACT_CALLS_PER_MINUTE = 10

/** The context of the routes of agents and API keys. */
export interface AgentRoutesContext {
  /** Throws `CHAIN_NOT_FOUND`. */
  readonly agentsOf: (slug: string) => ChainAgents
  readonly engine: SignatureEngine
  /** Counts only the signature checks of contract wallets, apart from the limits of requests. */
  readonly contractCalls: Limits
  readonly trustedProxies: number
  readonly now: () => number
}

/** Returns the options for checking the master wallet's signature in this request. */
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
    path: request.raw.url ?? '',
    body: rawBody(request),
    chargeContractCall: async () => {
      const key = networkOfRequest(request, trustedProxies)
      const bucket = { scope: 'ip', key, limit: CONTRACT_CALLS_PER_MINUTE } as const
      recordLimitAnswer(request, await contractCalls.take([bucket], nowMs))
    },
  }
}
