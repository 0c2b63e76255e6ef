import type { Address } from '@bezel/protocol'
import type { RelayerHealth } from './relayer.ts'
import { inNonceOrder, type RelayContext, type RelayMemory } from './relayContext.ts'

export function relayerHealth(context: RelayContext, memory: RelayMemory): RelayerHealth {
  const { settings, now } = context
  const { balanceWei, hasNoFunds, tracked, counts } = memory
  const waiting = inNonceOrder(memory).filter(({ mined }) => mined === undefined)
  const oldest = waiting[0]?.entry.versions[0]
  return {
    balanceWei: balanceWei ?? null,
    isLow: hasNoFunds || (balanceWei !== undefined && balanceWei < settings.lowBalanceWei),
    problem: problemOf(context, memory),
    waiting: waiting.length,
    unsettled: tracked.size,
    oldestWaitingMs: oldest === undefined ? 0 : Math.max(0, now() - oldest.createdAtMs),
    counts: { ...counts },
  }
}

/** What an operator has to know of it; `undefined` while all is well. */
export function relayerWarning(address: Address, { problem, isLow }: RelayerHealth): string | undefined {
  if (problem !== null) return problem
  return isLow ? `The relayer ${address} is low on gas: top it up.` : undefined
}

function problemOf({ settings, now, signer }: RelayContext, memory: RelayMemory): string | null {
  const { balanceWei, hasNoFunds, market } = memory
  if (market === undefined || balanceWei === undefined) return 'The relayer has not reached the chain yet.'
  if (now() - market.atMs > settings.maxFeesAgeMs) return 'The relayer can not reach the chain.'
  if (hasNoFunds || balanceWei === 0n) return `The relayer ${signer.address} has no gas left: top it up.`
  return null
}
