import type { Address, Hex, MayBeMined } from '@bezel/protocol'
import { outOfForce } from '../../agents/agentRefusals.ts'
import { findAgent } from '../../store/agentStore.ts'
import { findAttempt } from '../../store/attemptStore.ts'
import {
  type Fees,
  type RelayEntry,
  type VersionKind,
  insertRelayVersion,
  listRelayedAgents,
  listRelayEntriesOf,
} from '../../store/relayStore.ts'
import type { Sql, Transaction } from '../../store/sql.ts'
import { feeCapOf, readPaidByExits } from './exitGas.ts'
import { firstFees, lateFees, raisedFees } from './fees.ts'
import { recountGas } from './gasBudget.ts'
import { isOver } from './lookAtNode.ts'
import type { RelayContext } from './relayContext.ts'
import { newestOf, reserveOf, signVersion } from './relayEntry.ts'
import { unminedIn, type RelayMemory, type RelayState, type TrackedEntry } from './relayMemory.ts'

/** An entry with the offer of its next version. */
interface Renewal {
  readonly entry: RelayEntry
  readonly kind: VersionKind
  readonly fees: Fees
}

/**
 * The number of sends in a row that a node must call invalid before the action's nonce is burnt early: all later nonces
 * wait behind it.
 */
const HOPELESS_SENDS = 4

/** The number of entries renewed in one transaction; the others follow in the next steps. */
const MAX_RENEWALS = 32

/**
 * Gives new versions to stuck entries and burns expired ones, those whose target is gone, and those whose agent may not
 * act any more. The versions
 * are stored now and sent in the next step. Returns true when there were any.
 */
export async function renewEntries(context: RelayContext, memory: RelayMemory): Promise<boolean> {
  const { state } = memory
  const renewals: Renewal[] = []
  for (const of of unminedIn(state)) {
    if (renewals.length === MAX_RENEWALS) break
    if (!state.withdrawn.has(of.entry.nonce)) renewals.push(...(await renewalsOf(context, state, of)))
  }
  if (renewals.length === 0) return false
  const renewed = await context.store.transaction({ chain: context.sender.chain }, async (sql) => {
    const entries: RelayEntry[] = []
    for (const renewal of renewals) {
      const { entry, kind } = renewal
      const isWanted = kind === 'burn' || (await mayStillAct(sql, context, entry))
      const next = isWanted ? [renewal] : burnsOf(context, state, entry)
      for (const one of next) entries.push(await keepRenewal(sql, context, one))
    }
    await tellHashes(sql, context, entries)
    return entries
  })
  for (const entry of renewed) memory.renewed(entry)
  return true
}

/** Returns the next version of an entry, if one is due. */
async function renewalsOf(context: RelayContext, state: RelayState, of: TrackedEntry): Promise<Renewal[]> {
  const { entry } = of
  const newest = newestOf(entry)
  const isAstray = newest.kind === 'action' && of.aim === 'astray'
  const isExpired = isAstray || isOver(entry.expiresAtMs, newest.kind, context.now()) || of.hopeless >= HOPELESS_SENDS
  if (!isExpired && !isStuck(context, state, of)) return []
  if (isExpired || newest.kind === 'burn') return burnsOf(context, state, entry)
  const fees = renewedFees(context, state, entry, await readFeeCap(context, entry))
  return fees === undefined ? [] : [{ entry, kind: 'action', fees }]
}

async function readFeeCap({ store, sender, settings }: RelayContext, { nonce, action }: RelayEntry): Promise<bigint> {
  if (action?.isExit !== true) return settings.maxFeeWei
  return feeCapOf(settings, { wei: await readPaidByExits(store.read, sender, nonce), gas: action.gas })
}

/** Returns the burn that outbids an entry's newest version; none when it would offer too much. */
function burnsOf(context: RelayContext, state: RelayState, entry: RelayEntry): Renewal[] {
  const offers = entry.versions.filter(({ kind }) => kind === 'action').map(({ fees }) => fees.maxFeeWei)
  const highest = offers.reduce((most, wei) => (wei > most ? wei : most), context.settings.maxFeeWei)
  // A burn may offer twice as much, which is more than an eighth more, so it can always outbid an action.
  const fees = renewedFees(context, state, entry, 2n * highest)
  return fees === undefined ? [] : [{ entry, kind: 'burn', fees }]
}

/** Returns the offer that outbids an entry's newest version; `undefined` when it would exceed `maxFeeWei`. */
function renewedFees(context: RelayContext, state: RelayState, entry: RelayEntry, maxFeeWei: bigint): Fees | undefined {
  const offerOf = isLate(context, state, entry) ? lateFees : firstFees
  const offer = state.market && offerOf(state.market, { ...context.settings, maxFeeWei })
  return raisedFees(newestOf(entry).fees, offer, maxFeeWei)
}

/** True when the node asks for a higher fee, the base fee exceeds the offer, or the entry is late. */
function isStuck(context: RelayContext, state: RelayState, { entry, isUnderpriced }: TrackedEntry): boolean {
  const { fees, createdAtMs } = newestOf(entry)
  if (context.now() - createdAtMs < context.settings.minRepriceMs) return false
  return isLate(context, state, entry) || isUnderpriced || fees.maxFeeWei < (state.market?.baseFeeWei ?? 0n)
}

/** True when an entry is next in nonce order and its newest version, which a node has, was not mined for too long. */
function isLate({ settings, now }: RelayContext, state: RelayState, entry: RelayEntry): boolean {
  if (entry.nonce !== state.usedNonces || state.tracked.get(entry.nonce)?.isTaken !== true) return false
  return now() - Math.max(state.lineSinceMs, newestOf(entry).createdAtMs) >= settings.stuckMs
}

/** Tells by which hashes the renewed actions are known from now on. */
async function tellHashes(sql: Transaction, context: RelayContext, renewed: readonly RelayEntry[]): Promise<void> {
  const hashes = renewed.flatMap((entry) => {
    const { kind, hash } = newestOf(entry)
    return kind === 'action' && entry.action !== null ? [{ attemptId: entry.action.attemptId, hash }] : []
  })
  if (hashes.length > 0) await context.onHashes(sql, hashes)
}

async function keepRenewal(sql: Sql, context: RelayContext, { entry, kind, fees }: Renewal): Promise<RelayEntry> {
  const version = signVersion(context, entry, { number: entry.versions.length, kind, fees })
  await insertRelayVersion(sql, context.sender, entry.nonce, version)
  const renewed = { ...entry, versions: [...entry.versions, version] }
  return recountGas(sql, context.sender, renewed, reserveOf(renewed, context.settings.burnGas))
}

/** True while the agent of an entry serves the entry's trader, may trade, and is neither revoked nor expired. */
export async function mayStillAct(
  sql: Sql,
  { sender, now }: Pick<RelayContext, 'sender' | 'now'>,
  { action }: Pick<RelayEntry, 'action'>,
): Promise<boolean> {
  if (action === null || action.agent === null) return true
  const record = await findAgent(sql, sender.chain, action.agent)
  if (record?.trader !== action.trader || record.scope.permissions !== 'trade') return false
  return outOfForce(record, now()) === undefined
}

/** The burns of entries. */
export interface BurntEntries {
  readonly mayBeMined: readonly MayBeMined[]
  /** Hashes of the burns that have to be sent. */
  readonly burns: readonly Hex[]
}

/**
 * Stores a burn for every live entry of agents that may not act any more, of one trader or of all (`null`), also for
 * one that is mined: a reorganisation would send it again. Nothing of these agents is sent after this resolves. Works
 * without the node.
 */
export async function burnRevoked(
  context: RelayContext,
  memory: RelayMemory,
  trader: Address | null,
): Promise<BurntEntries> {
  /** The nonces that are marked in memory before the commit, because nothing of them may be sent meanwhile. */
  const marked = new Set<number>()
  const burnAll = async (sql: Sql): Promise<ReadonlyMap<number, BurntEntry>> => {
    const made = new Map<number, BurntEntry>()
    for (const entry of await listUnwanted(sql, context, trader)) {
      marked.add(entry.nonce)
      made.set(entry.nonce, await burnEntry(sql, context, memory, entry))
    }
    return made
  }
  const stored = await context.store.transaction({ chain: context.sender.chain }, burnAll).catch((error: unknown) => {
    memory.stayed([...marked])
    throw error
  })
  memory.stayed([...marked].filter((nonce) => !stored.has(nonce)))
  const burnt = [...stored.values()]
  return {
    mayBeMined: burnt.flatMap(({ sent }) => sent),
    burns: burnt.flatMap(({ burn }) => burn ?? []),
  }
}

/** Returns true when an entry is to be burnt that an agent made which another process has revoked. */
export async function hasUnwanted(context: RelayContext): Promise<boolean> {
  const unwanted = await listUnwanted(context.store.read, context, null)
  return unwanted.some((entry) => newestOf(entry).kind === 'action')
}

/**
 * Lists what may be mined for the agents of a trader that may not act any more, for a process without the key: whoever
 * sends burns it.
 */
export async function listMayBeMined(
  sql: Sql,
  of: Pick<RelayContext, 'sender' | 'now'>,
  trader: Address,
): Promise<readonly MayBeMined[]> {
  const found: MayBeMined[] = []
  for (const entry of await listUnwanted(sql, of, trader)) found.push(...(await sentActionsOf(sql, entry)))
  return found
}

interface BurntEntry {
  /** The versions of the action that a node may have, oldest first. */
  readonly sent: readonly MayBeMined[]
  /** Hash of the burn that has to be sent. */
  readonly burn: Hex | undefined
}

async function burnEntry(sql: Sql, context: RelayContext, memory: RelayMemory, entry: RelayEntry): Promise<BurntEntry> {
  const { nonce } = entry
  const [burn] = newestOf(entry).kind === 'burn' ? [] : burnsOf(context, memory.state, entry)
  // From here on no step sends it, so whether it was sent is settled.
  if (burn !== undefined) memory.withdrawing(nonce)
  const isMined = nonce < memory.state.minedNonces
  const sent = isMined || memory.state.unsent.has(nonce) ? [] : await sentActionsOf(sql, entry)
  if (burn === undefined) return { sent, burn: undefined }
  const { hash } = newestOf(await keepRenewal(sql, context, burn))
  return { sent, burn: isMined ? undefined : hash }
}

async function listUnwanted(
  sql: Sql,
  context: Pick<RelayContext, 'sender' | 'now'>,
  trader: Address | null,
): Promise<RelayEntry[]> {
  const unwanted: RelayEntry[] = []
  for (const agent of await listRelayedAgents(sql, context.sender, trader)) {
    const entries = await listRelayEntriesOf(sql, context.sender, agent)
    for (const entry of entries) {
      const isAsked = trader === null || entry.action?.trader === trader
      if (isAsked && !(await mayStillAct(sql, context, entry))) unwanted.push(entry)
    }
  }
  return unwanted
}

async function sentActionsOf(sql: Sql, { action, versions }: RelayEntry): Promise<MayBeMined[]> {
  if (action === null) return []
  const orderId = (await findAttempt(sql, action.attemptId))?.orderId ?? null
  return versions.filter(({ kind }) => kind === 'action').map(({ hash: txHash }) => ({ txHash, orderId }))
}
