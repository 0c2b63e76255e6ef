import type { Hex } from '@bezel/protocol'
import type { Sql } from '../../store/sql.ts'
import { enqueueAction, type ActionToRelay } from './enqueueAction.ts'
import { healLost } from './healLost.ts'
import { keepMined } from './keepMined.ts'
import { dueSends, lookAtNode, isOver } from './lookAtNode.ts'
import { fillHoles, skipForeignNonces, loadEntries, openNonceSequence } from './nonceSequence.ts'
import type { RelayContext } from './relayContext.ts'
import { relayerHealth, type RelayerHealth } from './relayerHealth.ts'
import {
  createRelayMemory,
  findTracked,
  type RelayState,
  unminedIn,
  type RelayMemory,
  type TrackedEntry,
} from './relayMemory.ts'
import { type Fees, type VersionKind, type RelayEntry, insertRelayVersion } from '../../store/relayStore.ts'
import { firstFees, raisedFees } from './fees.ts'
import { recountGas } from './gasBudget.ts'
import { newestOf, reserveOf, signVersion } from './relayEntry.ts'

/** The work of a relayer, one step at a time. The caller decides when to run the next step. */
export interface Relaying {
  enqueue(sql: Sql, of: ActionToRelay): Promise<{ readonly hash: Hex }>
  /** Resolves when a node has the transaction, or its entry is settled in another way. */
  taken(hash: Hex): Promise<void>
  /**
   * Polls the node once and does everything that follows from its answers. Returns true when there is more to do at
   * once. A failure at any point leaves nothing half done: the memory is dropped and rebuilt from the store and the
   * node.
   */
  step(): Promise<boolean>
  onFailed(hash: Hex, listener: () => void): () => void
  health(): RelayerHealth
  /** Resolves all promises of `taken`. */
  release(): void
}

/**
 * Creates the relayer of one chain.
 *
 * An attempt is mined at most once, for these reasons. All versions of an entry have the same nonce, and a chain takes
 * a nonce once. An attempt has one entry that is not `lost`, which the schema enforces. An entry becomes `lost` and is
 * replaced only when a transaction of somebody else with its nonce was found in a final block (`healLost`).
 *
 * No attempt is forgotten, because nonce and bytes are committed with the order before they are sent, every step sends
 * the live entries of the store that are not on the chain, and only a receipt at finality depth ends an entry.
 */
export function createRelaying(context: RelayContext): Relaying {
  const memory = createRelayMemory()
  let isOpen = false
  const waiting = new Map<Hex, (() => void)[]>()
  const failures = createFailures()

  async function step(): Promise<boolean> {
    try {
      return await work()
    } catch (error) {
      memory.forgot()
      throw error
    }
  }

  async function work(): Promise<boolean> {
    const waitedFor = [...waiting.keys()]
    if (!isOpen) await openNonceSequence(context, memory)
    isOpen = true
    await loadEntries(context, memory)
    const usedBefore = memory.state.usedNonces
    const found = await lookAtNode(context, memory)
    await keepMined(context, memory, found)
    failures.look(memory.state)
    await skipForeignNonces(context, memory)
    const isRenewed = await renewEntries(context, memory)
    const isFilled = await fillHoles(context, memory)
    memory.reckoned(context.settings.burnGas)
    tell(waitedFor)
    const isHealed = await healLost(context, memory)
    return (
      isRenewed ||
      isFilled ||
      isHealed ||
      usedBefore !== memory.state.usedNonces ||
      dueSends(context, memory.state).length > 0
    )
  }

  /** Resolves the waits that began before the entries were read and whose entry is taken, mined or gone. */
  function tell(waitedFor: readonly Hex[]): void {
    for (const hash of waitedFor) {
      const tracked = findTracked(memory.state, hash)
      if (tracked !== undefined && !tracked.isTaken && tracked.mined === undefined) continue
      release(hash)
    }
  }

  function release(hash: Hex): void {
    for (const resolve of waiting.get(hash) ?? []) resolve()
    waiting.delete(hash)
  }

  return {
    enqueue: async (sql, of) => ({ hash: await enqueueAction(sql, context, memory, of) }),
    taken: (hash) =>
      new Promise((resolve) => {
        waiting.set(hash, [...(waiting.get(hash) ?? []), resolve])
      }),
    step,
    onFailed: failures.listen,
    health: () => relayerHealth(context, memory.state),
    release() {
      for (const hash of waiting.keys()) release(hash)
    },
  }
}

/** The listeners for transactions that fail on the chain. */
interface Failures {
  /** Adds a listener. Returns the function that removes it. */
  listen(hash: Hex, listener: () => void): () => void
  /** Calls the listeners of transactions that are known to have failed, each once. */
  look(state: RelayState): void
}

/** Creates the listeners in memory. A listener lives only while a request waits, so a crash loses nothing. */
function createFailures(): Failures {
  const listeners = new Map<Hex, Set<() => void>>()

  return {
    listen(hash, listener) {
      const all = listeners.get(hash) ?? new Set()
      listeners.set(hash, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0 && listeners.get(hash) === all) listeners.delete(hash)
      }
    },
    look(state) {
      for (const [hash, all] of listeners) {
        if (!isFailed(state, hash)) continue
        listeners.delete(hash)
        for (const listener of all) listener()
      }
    },
  }
}

/** True when the transaction reverted or its nonce was burnt, after which the action can't be mined any more. */
function isFailed(state: RelayState, hash: Hex): boolean {
  const mined = findTracked(state, hash)?.mined
  return mined !== undefined && (mined.isReverted || mined.kind === 'burn')
}

/** An entry with the offer of its next version. */
interface Renewal {
  readonly of: TrackedEntry
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
 * Gives new versions to stuck entries and burns expired ones. The versions are stored now and sent in the next step.
 * Returns true when there were any.
 */
async function renewEntries(context: RelayContext, memory: RelayMemory): Promise<boolean> {
  const { state } = memory
  const renewals = unminedIn(state)
    .map((of) => renewalOf(context, state, of))
    .filter((renewal) => renewal !== undefined)
    .slice(0, MAX_RENEWALS)
  if (renewals.length === 0) return false
  const renewed = await context.store.transaction(async (sql) => {
    const entries: RelayEntry[] = []
    for (const renewal of renewals) entries.push(await keepRenewal(sql, context, renewal))
    return entries
  })
  for (const entry of renewed) memory.renewed(entry)
  return true
}

function renewalOf(context: RelayContext, state: RelayState, of: TrackedEntry): Renewal | undefined {
  const { settings, now } = context
  const newest = newestOf(of.entry)
  const isExpired = isOver(of.entry.expiresAtMs, newest.kind, now()) || of.hopeless >= HOPELESS_SENDS
  if (!isExpired && !isStuck(context, state, of)) return undefined
  const kind = isExpired ? 'burn' : newest.kind
  // A burn may offer twice as much, which is more than an eighth more, so it can always outbid an action.
  const maxFeeWei = kind === 'burn' ? 2n * settings.maxFeeWei : settings.maxFeeWei
  const market = state.market === undefined ? undefined : firstFees(state.market, { ...settings, maxFeeWei })
  const fees = raisedFees(newest.fees, market, maxFeeWei)
  return fees === undefined ? undefined : { of, kind, fees }
}

/**
 * True when the node asks for a higher fee, the base fee exceeds the offer, or the next transaction in nonce order was
 * not mined for too long.
 */
function isStuck({ settings, now }: RelayContext, state: RelayState, of: TrackedEntry): boolean {
  const { fees, createdAtMs } = newestOf(of.entry)
  const nowMs = now()
  if (nowMs - createdAtMs < settings.minRepriceMs) return false
  const isNext = of.entry.nonce === state.usedNonces
  const isLate = isNext && of.isTaken && nowMs - Math.max(state.lineSinceMs, createdAtMs) >= settings.stuckMs
  return isLate || of.isUnderpriced || fees.maxFeeWei < (state.market?.baseFeeWei ?? 0n)
}

async function keepRenewal(sql: Sql, context: RelayContext, { of, kind, fees }: Renewal): Promise<RelayEntry> {
  const { entry } = of
  const version = signVersion(context, entry, { number: entry.versions.length, kind, fees })
  await insertRelayVersion(sql, context.sender, entry.nonce, version)
  if (kind === 'action' && entry.action !== null) {
    await context.onHash(sql, { attemptId: entry.action.attemptId, hash: version.hash })
  }
  const renewed = { ...entry, versions: [...entry.versions, version] }
  return recountGas(sql, context.sender, renewed, reserveOf(renewed, context.settings.burnGas))
}
