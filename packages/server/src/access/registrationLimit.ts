import { ipBuckets, type LimitAnswer, type Limits } from './limits.ts'

/**
 * Counts what strangers can store here: authorisations of agents, API keys and approvals of the facade share one limit
 * per network. Revocations and the ending of keys are never counted.
 */
export interface RegistrationLimit {
  /** Charges one registration. `network` is that of the sender's IP (`networkOf`). */
  charge(network: string, nowMs: number): LimitAnswer | Promise<LimitAnswer>
}

/** Creates the limit over counters of its own: registrations are counted beside the requests that carry them. */
export function createRegistrationLimit(limits: Limits, limit: number): RegistrationLimit {
  return { charge: (network, nowMs) => limits.take(ipBuckets(network, limit), nowMs) }
}
