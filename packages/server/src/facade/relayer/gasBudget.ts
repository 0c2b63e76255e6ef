import type { Address } from '@bezel/protocol'
import {
  type RelayEntry,
  addRelayedGas,
  readRelayedGasWei,
  setCountedWei,
  type RelaySender,
} from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import type { RelayerSettings } from './relayerSettings.ts'

/** Gas to count for a trader on a UTC day. */
interface GasDemand {
  readonly trader: Address
  readonly day: number
  /** The highest possible cost. */
  readonly wei: bigint
}

/**
 * Reserves the highest possible cost of an action, in the transaction that stores the action. Throws when it exceeds
 * the rest of the day's budget, so that everything accepted before can always be paid for.
 */
export async function reserveGas(
  sql: Sql,
  { chain }: RelaySender,
  { trader, day, wei }: GasDemand,
  { traderDayWei, deploymentDayWei }: RelayerSettings,
): Promise<void> {
  const used = await readRelayedGasWei(sql, chain, day, trader)
  if (used + wei > traderDayWei) {
    throw new RelayRefusedError('trader_budget', `Gas budget of this account is used up for today. ${againAt(day)}`)
  }
  if ((await readRelayedGasWei(sql, chain, day, null)) + wei > deploymentDayWei) {
    throw new RelayRefusedError('deployment_budget', `Gas budget of this service is used up for today. ${againAt(day)}`)
  }
  await addRelayedGas(sql, { chain, day, trader, wei })
  await addRelayedGas(sql, { chain, day, trader: null, wei })
}

function againAt(day: number): string {
  const next = new Date((day + 1) * 86_400_000).toISOString().slice(0, 10)
  return `It is renewed at ${next} 00:00 UTC; orders through the native interface, with gas of your own, are not limited by it.`
}

/**
 * Replaces the amount that an entry counts, even beyond the day's budget, because the entry is on its way or paid.
 * Returns the updated entry.
 */
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

/** The reason for which the relayer refuses an action, of this trader or of all. */
export type RelayRefusal =
  'trader_budget' | 'deployment_budget' | 'low_balance' | 'gas_too_dear' | 'busy' | 'expired' | 'not_ready'

/** The refusal of an action, of which nothing is stored. The message is written for the trader. */
export class RelayRefusedError extends Error {
  override readonly name = 'RelayRefusedError'
  readonly reason: RelayRefusal

  constructor(reason: RelayRefusal, message: string) {
    super(message)
    this.reason = reason
  }
}
