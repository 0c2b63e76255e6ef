import type { Address } from '@bezel/protocol'
import type { RelayContext } from './relayContext.ts'
import { inNonceOrder, type RelayCounts, type RelayState } from './relayMemory.ts'

/** The health of a relayer, for `/ready`, metrics and the texts of refusals. Read from memory. */
export interface RelayerHealth {
  /** The balance; `null` until the node was asked. */
  readonly balanceWei: bigint | null
  /** True when the balance is below the threshold, or the node refused a transaction for lack of gas. */
  readonly isLow: boolean
  /** A sentence that says why nothing would be accepted now; `null` while all is well. Ignores the daily budgets. */
  readonly problem: string | null
  /** The number of entries that are not mined. */
  readonly waiting: number
  /** The number of entries that are not final. */
  readonly unsettled: number
  /** Age of the oldest version of the oldest entry that is not mined. */
  readonly oldestWaitingMs: number
  /** Counts since the start of the process. */
  readonly counts: RelayCounts
}

export function relayerHealth(context: RelayContext, state: RelayState): RelayerHealth {
  const { settings, now } = context
  const { balanceWei, hasNoFunds, tracked, counts } = state
  const waiting = inNonceOrder(state).filter(({ mined }) => mined === undefined)
  const oldest = waiting[0]?.entry.versions[0]
  return {
    balanceWei: balanceWei ?? null,
    isLow: hasNoFunds || (balanceWei !== undefined && balanceWei < settings.lowBalanceWei),
    problem: problemOf(context, state),
    waiting: waiting.length,
    unsettled: tracked.size,
    oldestWaitingMs: oldest === undefined ? 0 : Math.max(0, now() - oldest.createdAtMs),
    counts,
  }
}

/** Returns the warning for the operator; `undefined` while all is well. */
export function relayerWarning(address: Address, { problem, isLow }: RelayerHealth): string | undefined {
  if (problem !== null) return problem
  return isLow ? `The relayer ${address} is low on gas: top it up.` : undefined
}

function problemOf({ settings, now, signer }: RelayContext, state: RelayState): string | null {
  const { balanceWei, hasNoFunds, market } = state
  if (market === undefined || balanceWei === undefined) return 'The relayer has not reached the chain yet.'
  if (now() - market.atMs > settings.maxFeesAgeMs) return 'The relayer can not reach the chain.'
  if (hasNoFunds || balanceWei === 0n) return `The relayer ${signer.address} has no gas left: top it up.`
  return null
}
