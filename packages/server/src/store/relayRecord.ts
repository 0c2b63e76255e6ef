import type { AttemptId } from '../trading/orders/orderModel.ts'
import type { Hex, Address } from '@bezel/protocol'
/** What is offered per unit of gas, in wei. */
export interface Fees {
  readonly maxFeeWei: bigint
  readonly maxPriorityFeeWei: bigint
}

/** `action`: what the trader asked for. `burn`: an empty transfer that uses up the nonce instead. */
export type VersionKind = 'action' | 'burn'

/** Signed bytes of an entry. All versions of one have the same nonce, so at most one of them is ever mined. */
export interface RelayVersion {
  /** 0, 1, 2, ... */
  readonly number: number
  readonly kind: VersionKind
  readonly hash: Hex
  readonly raw: Hex
  readonly fees: Fees
  readonly createdAtMs: number
}

export interface RelayAction {
  readonly attemptId: AttemptId
  readonly trader: Address
  readonly calldata: Hex
  /** Units. */
  readonly gas: bigint
}

/** A nonce of the relayer and what it is for. */
export interface RelayEntry {
  readonly nonce: number
  /** `null`: made only to fill a nonce that somebody else left open; it is burnt. */
  readonly action: RelayAction | null
  /** Until then the action is tried; afterwards the nonce is burnt. */
  readonly expiresAtMs: number
  /** UTC day that its gas counts for. */
  readonly day: number
  /** What it counts now: the most it can cost, or once it is mined what it did. */
  readonly countedWei: bigint
  /** Oldest first, at least one. */
  readonly versions: readonly RelayVersion[]
}
