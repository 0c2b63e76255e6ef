import { ApiError, type Address, type ChainSlug } from '@bezel/protocol'
import type { LimitAnswer, LimitBucket, Limits } from './limits.ts'
import type { Nonces } from './nonces.ts'

/** Receives the outcome of a charge. Throws `RATE_LIMITED` when it was refused (`requireAllowed`). */
export type OnCharge = (answer: LimitAnswer) => void

/** The nonce of a signed request. */
export interface SignedNonce {
  readonly chain: ChainSlug
  readonly agent: Address
  readonly nonce: string
  readonly timestampMs: number
}

/** A request whose signature was verified, and whose timestamp is in the replay window. */
export interface VerifiedRequest extends SignedNonce {
  readonly buckets: readonly LimitBucket[]
  /** Weight that each bucket is charged. Default 1. */
  readonly weight?: number | undefined
  /** True for a write, which uses up its nonce in its own transaction as well. */
  readonly isWrite: boolean
}

/** Charges verified requests to their limits, and uses up their nonces. */
export interface Admission {
  /**
   * Charges the buckets and then uses up the nonce. A request over a limit keeps its nonce. Throws what `onCharge`
   * throws, `NONCE_REUSED`, or a refusal to be retried when nobody can tell now whether the nonce was used.
   */
  admit(request: VerifiedRequest, onCharge: OnCharge): Promise<void>
}

/** Creates the admission of a process that is alone with its data: limits and nonces are in its memory. */
export function admitInProcess(of: {
  readonly limits: Limits
  readonly nonces: Pick<Nonces, 'claim'>
  readonly now: () => number
}): Admission {
  const { limits, nonces, now } = of
  return {
    async admit({ chain, agent, nonce, timestampMs, buckets, weight }, onCharge) {
      onCharge(await limits.take(buckets, now(), weight))
      if (!nonces.claim(chain, agent, nonce, timestampMs)) throw nonceReused()
    },
  }
}

export function nonceReused(): ApiError {
  return new ApiError('NONCE_REUSED', 'This agent already used this nonce: use a new one for each request.')
}
