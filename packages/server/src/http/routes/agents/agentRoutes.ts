import type { Address, MayBeMined } from '@bezel/protocol'
import type { FastifyRequest } from 'fastify'
import { registrationNetworkOf } from '../../../access/ipAddress.ts'
import { ipBuckets, recordLimitAnswer, type Limits } from '../../../access/limits.ts'
import type { RegistrationLimit } from '../../../access/registrationLimit.ts'
import { REPLAY_WINDOW_MS } from '../../../access/nonceMemory.ts'
import type { ChainAgents } from '../../../agents/chainAgents.ts'
import type { RegistrationOptions } from '../../../agents/createAgent.ts'
import type { SignatureEngine } from '../../../signatures/recovery.ts'
import { networkOfRequest, originOf } from '../../hooks/registerHooks.ts'
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
  readonly registrations: RegistrationLimit
  /** Burns what the relayer has of revoked agents of a trader, and returns what may be mined all the same. */
  readonly burnRevoked: (slug: string, trader: Address) => Promise<readonly MayBeMined[]>
  readonly trustedProxies: number
  readonly now: () => number
}

/** Returns the options for checking the master wallet's signature in this request, and for what it registers. */
export function masterOptions(
  context: AgentRoutesContext,
  { client }: ChainAgents,
  request: FastifyRequest,
): RegistrationOptions {
  const { engine, contractCalls, registrations, trustedProxies, now } = context
  const nowMs = now()
  const key = networkOfRequest(request, trustedProxies)
  return {
    engine,
    client,
    windowMs: REPLAY_WINDOW_MS,
    nowMs,
    path: request.raw.url ?? '',
    body: rawBody(request),
    chargeContractCall: async () => {
      recordLimitAnswer(request, await contractCalls.take(ipBuckets(key, CONTRACT_CALLS_PER_MINUTE), nowMs))
    },
    chargeRegistration: async () => recordLimitAnswer(request, await registrations.charge(key, nowMs)),
    network: registrationNetworkOf(key),
    origin: originOf(request, trustedProxies),
  }
}
