import type { Address } from '@bezel/protocol'
import { exitWei } from './exitGas.ts'
import { isTooDear } from './fees.ts'
import type { RelayContext } from './relayContext.ts'
import { inNonceOrder, type RelayCounts, type RelayState } from './relayMemory.ts'

/** The health of a relayer, for `/ready`, metrics and the texts of refusals. Read from memory. */
export interface RelayerHealth {
  /** The balance; `null` until the node was asked. */
  readonly balanceWei: bigint | null
  /**
   * True when the balance, without what is set aside and what is under way, is below the threshold or has no room for
   * one more open, or the node refused a transaction for lack of gas.
   */
  readonly isLow: boolean
  /** A sentence that says why nothing would be accepted now; `null` while all is well. Ignores the daily budgets. */
  readonly problem: string | null
  /** The number of entries that are not mined. */
  readonly waiting: number
  /** The number of entries that are not final. */
  readonly unsettled: number
  /** Age of the oldest version of the oldest entry that is not mined. */
  readonly oldestWaitingMs: number
  /** The gas budget of all traders for the current UTC day. */
  readonly budgetWei: bigint
  /** The gas counted on the current UTC day, with what was set aside on it. */
  readonly usedWei: bigint
  /** The gas that is set aside for ways out, whenever that was. */
  readonly asideWei: bigint
  /** True when the day's budget is nearly used up. */
  readonly isBudgetLow: boolean
  /** Counts since the start of the process. */
  readonly counts: RelayCounts
}

/** The part of the day's budget, in percent, from which on it counts as low. */
const LOW_BUDGET_PERCENT = 80n

export function relayerHealth(context: RelayContext, state: RelayState): RelayerHealth {
  const { settings, now } = context
  const { balanceWei, tracked, counts } = state
  const { usedWei, asideWei } = state.gas
  const { deploymentDayWei: budgetWei } = settings.budgets()
  const waiting = inNonceOrder(state).filter(({ mined }) => mined === undefined)
  const oldest = waiting[0]?.entry.versions[0]
  return {
    balanceWei: balanceWei ?? null,
    isLow: isLow(context, state),
    problem: problemOf(context, state),
    waiting: waiting.length,
    unsettled: tracked.size,
    oldestWaitingMs: oldest === undefined ? 0 : Math.max(0, now() - oldest.createdAtMs),
    budgetWei,
    usedWei,
    asideWei,
    isBudgetLow: 100n * usedWei >= LOW_BUDGET_PERCENT * budgetWei,
    counts,
  }
}

function isLow({ settings }: RelayContext, { balanceWei, hasNoFunds, outstandingWei, gas }: RelayState): boolean {
  if (hasNoFunds || balanceWei === undefined) return hasNoFunds
  const { lowBalanceWei, exitGas, maxFeeWei } = settings
  const openWei = exitGas * maxFeeWei + exitWei(exitGas, settings)
  const neededWei = openWei > lowBalanceWei ? openWei : lowBalanceWei
  return balanceWei - outstandingWei - gas.asideWei < neededWei
}

/** Returns the warning for the operator; `undefined` while all is well. */
export function relayerWarning(address: Address, of: RelayerHealth): string | undefined {
  if (of.problem !== null) return of.problem
  if (of.isLow) return `The relayer ${address} is low on gas: top it up.`
  if (!of.isBudgetLow) return undefined
  return `The gas budget of the relayer ${address} is nearly used up for today. Exits go on: their gas is set aside.`
}

function problemOf({ settings, now, signer }: RelayContext, state: RelayState): string | null {
  const { balanceWei, hasNoFunds, market } = state
  if (market === undefined || balanceWei === undefined) return 'The relayer has not reached the chain yet.'
  if (now() - market.atMs > settings.maxFeesAgeMs) return 'The relayer can not reach the chain.'
  if (hasNoFunds || balanceWei === 0n) return `The relayer ${signer.address} has no gas left: top it up.`
  if (isTooDear(market, settings)) return 'Gas is dearer than the relayer pays: wait, or raise its highest fee.'
  return null
}
