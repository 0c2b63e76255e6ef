import type { Address } from '@bezel/protocol'
import {
  countActiveTraders,
  readAsideWei,
  readHeldWei,
  readRelayedGasWei,
  type RelaySender,
} from '../../store/relayGasStore.ts'
import { countUnmined, setCountedWei, type RelayEntry } from '../../store/relayStore.ts'
import type { Sql } from '../../store/sql.ts'
import { utcDayOf } from '../../trading/scope.ts'
import { addToDay, bearByExits } from './exitGas.ts'
import type { RelayContext } from './relayContext.ts'
import type { RelayState } from './relayMemory.ts'

/** Time for which a trader counts as active after its last accepted action. */
const ACTIVE_MS = 3_600_000

/** The number of unmined entries that every trader may have, however many others there are. */
const MIN_UNMINED = 4

/** The gas that an action needs and that is not set aside for it. */
interface GasDemand {
  readonly trader: Address
  /** The highest possible cost of the action itself, in wei. */
  readonly wei: bigint
  /** The amount to be set aside for its way out, in wei. */
  readonly asideWei: bigint
}

/**
 * Admits an action that is not paid from what is set aside: throws unless there is room for it, and the balance and the
 * budgets of today have its highest possible cost and that of its way out. So everything accepted before can always be
 * paid for, and has a way out.
 */
export async function admitAction(
  sql: Sql,
  context: RelayContext,
  state: RelayState,
  demand: GasDemand,
): Promise<void> {
  const { sender, now } = context
  const { trader } = demand
  const of = { chain: sender.chain, sinceMs: now() - ACTIVE_MS, except: trader }
  const active = 1 + (await countActiveTraders(sql, of))
  await requireRoom(sql, context, { usedNonces: state.minedNonces, trader, active })
  requireFunds(state, demand.wei + demand.asideWei + (await readAsideWei(sql, sender.chain)))
  await requireBudget(sql, context, demand, active)
  const heldWei = demand.asideWei === 0n ? 0n : await readHeldWei(sql, sender.chain, trader)
  if (isShare({ before: heldWei, more: demand.asideWei, active }, state.balanceWei ?? 0n)) return
  const text = `The open orders and positions of this account hold its share of the relayer's gas, which ${active} accounts were using in the last hour.`
  throw new RelayRefusedError('trader_share', `${text} Close or cancel some. ${WAY_OUT}${NATIVELY}`)
}

/**
 * True when a trader uses no more than its share of what all have, after `more` is added to what it uses. The first use
 * is always within it, or nobody could begin when many are active.
 */
function isShare(
  of: { readonly before: bigint; readonly more: bigint; readonly active: number },
  all: bigint,
): boolean {
  return of.before === 0n || (of.before + of.more) * BigInt(of.active) <= FAIR_SHARES * all
}

/** Throws unless the balance covers `wei` as well as the highest possible cost of all that is not mined yet. */
function requireFunds({ balanceWei, hasNoFunds, outstandingWei }: RelayState, wei: bigint): void {
  if (!hasNoFunds && balanceWei !== undefined && outstandingWei + wei <= balanceWei) return
  throw outOfGas()
}

/** Throws when not even an action that is paid from what is set aside can be paid. */
export function requireFundsOfExit({ balanceWei, hasNoFunds }: RelayState, wei: bigint): void {
  if (!hasNoFunds && balanceWei !== undefined && wei <= balanceWei) return
  throw outOfGas()
}

function outOfGas(): RelayRefusedError {
  return new RelayRefusedError(
    'low_balance',
    'The relayer of this service is out of gas on this chain until its operator tops it up.',
  )
}

async function requireRoom(
  sql: Sql,
  { sender, settings }: RelayContext,
  of: { readonly usedNonces: number; readonly trader: Address; readonly active: number },
): Promise<void> {
  const { all, own } = await countUnmined(sql, sender, of)
  const share = Math.max(MIN_UNMINED, Math.floor(settings.maxUnmined / of.active))
  if (own >= share) {
    throw new RelayRefusedError('busy', `${own} actions of this account wait for the chain. Try again in a moment.`)
  }
  if (all < settings.maxUnmined || own < MIN_UNMINED) return
  throw new RelayRefusedError('busy', 'Too many actions wait for the chain. Try again in a moment.')
}

async function requireBudget(
  sql: Sql,
  { sender: { chain }, settings, now }: RelayContext,
  { trader, wei, asideWei }: GasDemand,
  active: number,
): Promise<void> {
  const day = utcDayOf(now())
  const { traderDayWei, deploymentDayWei } = settings.budgets()
  const more = wei + asideWei
  const before = await readRelayedGasWei(sql, chain, day, trader)
  const hint = `${asideWei === 0n ? '' : WAY_OUT}${againAt(day)}`
  if (before + more > traderDayWei) {
    throw new RelayRefusedError('trader_budget', `Gas budget of this account is used up for today. ${hint}`)
  }
  if ((await readRelayedGasWei(sql, chain, day, null)) + more > deploymentDayWei) {
    throw new RelayRefusedError('deployment_budget', `Gas budget of this service is used up for today. ${hint}`)
  }
  if (isShare({ before, more, active }, deploymentDayWei)) return
  const text = `This account has used its share of today's gas budget, which ${active} accounts were using in the last hour.`
  throw new RelayRefusedError('trader_share', `${text} ${hint}`)
}

/** The number of average shares of the deployment's budget, and of its balance, that one trader may use. */
const FAIR_SHARES = 2n

const NATIVELY = 'Orders through the native interface, with gas of your own, are not limited by it.'

const WAY_OUT = 'An order that opens also sets aside the gas of its way out. '

function againAt(day: number): string {
  const next = new Date((day + 1) * 86_400_000).toISOString().slice(0, 10)
  return `It is renewed at ${next} 00:00 UTC. ${NATIVELY}`
}

/**
 * Replaces the amount that an entry counts, even beyond the day's budget, because the entry is on its way or paid. What
 * is set aside for the entry bears the change first. Returns the updated entry.
 */
export async function recountGas(sql: Sql, sender: RelaySender, entry: RelayEntry, wei: bigint): Promise<RelayEntry> {
  const { nonce, day, action } = entry
  const trader = action?.trader ?? null
  const beforeWei = await setCountedWei(sql, sender, nonce, wei)
  const moreWei = wei - beforeWei
  if (moreWei !== 0n) {
    const borne = trader === null ? 0n : await bearByExits(sql, sender, { nonce, trader, beforeWei, moreWei })
    await addToDay(sql, { chain: sender.chain, day, trader }, moreWei - borne)
  }
  return { ...entry, countedWei: wei }
}

/** The reason for which the relayer refuses an action, of this trader or of all. */
export type RelayRefusal =
  | 'trader_budget'
  | 'trader_share'
  | 'deployment_budget'
  | 'low_balance'
  | 'gas_too_dear'
  | 'busy'
  | 'expired'
  | 'paused'
  | 'not_ready'

/** The refusal of an action, of which nothing is stored. The message is written for the trader. */
export class RelayRefusedError extends Error {
  override readonly name = 'RelayRefusedError'
  readonly reason: RelayRefusal

  constructor(reason: RelayRefusal, message: string) {
    super(message)
    this.reason = reason
  }
}
