import type { RelayEntry } from '../../store/relayRecord.ts'
import type { Address } from '@bezel/protocol'
import { addRelayedGas, relayedGasWei, setCountedWei, type RelaySender } from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { RelayerSettings } from './relayerSettings.ts'
import { RelayRefusedError } from './relayRefusal.ts'

/** Gas to count for a trader on a UTC day. */
export interface GasDemand {
  readonly trader: Address
  readonly day: number
  /** The most that it can cost. */
  readonly wei: bigint
}

/**
 * Counts the most that an action can cost. Throws when that would go beyond what is left of the day, so that what was taken before can always be
 * paid for. Inside the transaction that keeps the action.
 */
export async function reserveGas(
  sql: Sql,
  { chain }: RelaySender,
  { trader, day, wei }: GasDemand,
  { traderDayWei, deploymentDayWei }: RelayerSettings,
): Promise<void> {
  const used = await relayedGasWei(sql, chain, day, trader)
  if (used + wei > traderDayWei) {
    throw new RelayRefusedError('trader_budget', `Gas budget of this account is used up for today. ${againAt(day)}`)
  }
  if ((await relayedGasWei(sql, chain, day, null)) + wei > deploymentDayWei) {
    throw new RelayRefusedError('deployment_budget', `Gas budget of this service is used up for today. ${againAt(day)}`)
  }
  await addRelayedGas(sql, { chain, day, trader, wei })
  await addRelayedGas(sql, { chain, day, trader: null, wei })
}

function againAt(day: number): string {
  const next = new Date((day + 1) * 86_400_000).toISOString().slice(0, 10)
  return `It is renewed at ${next} 00:00 UTC; orders through the native interface, with gas of your own, are not limited by it.`
}

/** Makes an entry count so much instead, whatever is left of the day: it is on its way or was paid. The entry as it counts now. */
export async function recountGas(sql: Sql, sender: RelaySender, entry: RelayEntry, wei: bigint): Promise<RelayEntry> {
  const { chain } = sender
  const { day, action } = entry
  const more = wei - (await setCountedWei(sql, sender, entry.nonce, wei))
  if (more !== 0n) {
    await addRelayedGas(sql, { chain, day, trader: null, wei: more })
    if (action !== null) await addRelayedGas(sql, { chain, day, trader: action.trader, wei: more })
  }
  return { ...entry, countedWei: wei }
}
