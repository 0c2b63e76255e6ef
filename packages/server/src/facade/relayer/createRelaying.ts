import type { Address, Hex } from '@bezel/protocol'
import { readAsideWei, readRelayedGasWei } from '../../store/relayGasStore.ts'
import { isRelayedLive } from '../../store/relayStore.ts'
import type { Store, Transaction } from '../../store/sql.ts'
import { utcDayOf } from '../../trading/scope.ts'
import { takeAim } from './aims.ts'
import { enqueueAction, type ActionToRelay } from './enqueueAction.ts'
import { adoptOpen } from './exitGas.ts'
import { healLost } from './healLost.ts'
import { keepMined } from './keepMined.ts'
import { dueSends, lookAtNode } from './lookAtNode.ts'
import {
  fillHoles,
  followStored,
  hasNewEntries,
  loadEntries,
  openNonceSequence,
  skipForeignNonces,
} from './nonceSequence.ts'
import type { RelayContext } from './relayContext.ts'
import { relayerHealth, type RelayerHealth } from './relayerHealth.ts'
import { createRelayMemory, findTracked, type RelayGas, type RelayMemory, type RelayState } from './relayMemory.ts'
import { burnRevoked, hasUnwanted, renewEntries, type BurntEntries } from './renewEntries.ts'

/** Interval between two looks for entries of agents that another process revoked. */
const REVOKED_LOOK_MS = 5_000

/** The work of a relayer, one step at a time. The caller decides when to run the next step. */
export interface Relaying {
  enqueue(sql: Transaction, of: ActionToRelay): Promise<{ readonly hash: Hex }>
  /** Resolves when a node has the transaction, or its entry is settled in another way. */
  taken(hash: Hex): Promise<void>
  /**
   * Polls the node once and does everything that follows from its answers. Returns true when there is more to do at
   * once. A failure at any point leaves nothing half done: the memory is dropped and rebuilt from the store and the
   * node.
   */
  step(): Promise<boolean>
  /**
   * Sends from the next step on, with this store; `undefined`: another process sends, and steps only watch. Never
   * called during a step. Without a call it sends with the store of the context.
   */
  lead(store: Store | undefined): void
  /** Returns true when another process has stored entries since the last step. */
  hasNews(): Promise<boolean>
  isOnItsWay(hash: Hex): Promise<boolean>
  /** Returns true when what the node has of a live transaction is known, and no answer is outdated. */
  isSeen(hash: Hex): boolean
  onFailed(hash: Hex, listener: () => void): () => void
  /** Stores burns for all live entries of a trader's agents that may not act any more. The next step sends them. */
  burnRevoked(trader: Address): Promise<BurntEntries>
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
 * the live entries of the store that are not on the chain, and only a receipt in a final block ends an entry.
 */
export function createRelaying(context: RelayContext): Relaying {
  const memory = createRelayMemory()
  let isOpen = false
  /** The context of the sender; `undefined` while another process sends. */
  let leading: RelayContext | undefined = context
  const isRevokedLookDue = createDue(REVOKED_LOOK_MS, context.now)
  const waiting = new Map<Hex, (() => void)[]>()
  const failures = createFailures()

  async function step(): Promise<boolean> {
    try {
      return leading === undefined ? await watch() : await work(leading)
    } catch (error) {
      memory.forgot()
      throw error
    }
  }

  async function work(of: RelayContext): Promise<boolean> {
    const waitedFor = [...waiting.keys()]
    if (isOutdated(memory.state)) memory.forgot()
    if (!isOpen) await open(of, memory)
    isOpen = true
    if (of.isShared === true) await followOthers(of, memory, isRevokedLookDue())
    const isMore = await send(of, memory, failures)
    tell(waitedFor)
    return (await healLost(of, memory)) || isMore
  }

  async function watch(): Promise<boolean> {
    const waitedFor = [...waiting.keys()]
    const isMore = await watchOthers(context, memory)
    failures.look(memory.state)
    memory.reckoned(context.settings.burnGas, await readGas(context))
    tell(waitedFor)
    return isMore
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
    lead(store) {
      leading = store && { ...context, store }
      isOpen = false
      memory.led(store !== undefined)
    },
    hasNews: () => hasNewEntries(context, memory),
    isOnItsWay: (hash) => isOnItsWay(context, memory.state, hash),
    isSeen: (hash) => isSeen(memory.state, hash),
    onFailed: failures.listen,
    burnRevoked: (trader) => burnRevoked(leading ?? context, memory, trader),
    health: () => relayerHealth(context, memory.state),
    release() {
      for (const hash of waiting.keys()) release(hash)
    },
  }
}

/** Returns a function that returns true once in each interval. */
function createDue(intervalMs: number, now: () => number): () => boolean {
  let lastMs = 0
  return () => {
    const isDue = now() - lastMs >= intervalMs
    if (isDue) lastMs = now()
    return isDue
  }
}

async function open(context: RelayContext, memory: RelayMemory): Promise<void> {
  await openNonceSequence(context, memory)
  await adoptOpen(context)
  // The process may have ended before it could burn them.
  await burnRevoked(context, memory, null)
}

/** Takes over what other processes stored and, at intervals, burns what they revoked. */
async function followOthers(context: RelayContext, memory: RelayMemory, isRevokedLookDue: boolean): Promise<void> {
  await followStored(context, memory)
  if (isRevokedLookDue && (await hasUnwanted(context))) await burnRevoked(context, memory, null)
  if (isOutdated(memory.state)) memory.forgot()
}

/** Sends what is due and stores what the node tells. Returns true when there is more to do at once. */
async function send(context: RelayContext, memory: RelayMemory, failures: Failures): Promise<boolean> {
  await loadEntries(context, memory)
  await takeAim(context, memory)
  const usedBefore = memory.state.usedNonces
  const found = await lookAtNode(context, memory)
  await keepMined(context, memory, found)
  failures.look(memory.state)
  await skipForeignNonces(context, memory)
  const isRenewed = await renewEntries(context, memory)
  const isFilled = await fillHoles(context, memory)
  memory.reckoned(context.settings.burnGas, await readGas(context))
  const isMoved = usedBefore !== memory.state.usedNonces
  return isRenewed || isFilled || isMoved || dueSends(context, memory.state).length > 0
}

/**
 * Learns what becomes of entries while another process sends. Stores nothing. Returns true when there are receipts to
 * read.
 */
async function watchOthers(context: RelayContext, memory: RelayMemory): Promise<boolean> {
  await followStored(context, memory)
  await loadEntries(context, memory)
  const usedBefore = memory.state.usedNonces
  for (const { nonce, receipts } of await lookAtNode(context, memory, 'watch')) {
    const of = memory.state.tracked.get(nonce)
    if (of !== undefined && typeof receipts === 'object') memory.mined(of.entry, receipts)
  }
  return usedBefore !== memory.state.usedNonces
}

/** True when entries get burns that the tracked ones do not have. */
function isOutdated({ withdrawn, tracked }: RelayState): boolean {
  return [...withdrawn].some((nonce) => tracked.has(nonce))
}

async function readGas({ store, sender, now }: RelayContext): Promise<RelayGas> {
  const usedWei = await readRelayedGasWei(store.read, sender.chain, utcDayOf(now()), null)
  return { usedWei, asideWei: await readAsideWei(store.read, sender.chain) }
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

/** Reads from the outbox whether a transaction may still change what the follower knows. */
async function isOnItsWay({ store, sender, head }: RelayContext, state: RelayState, hash: Hex): Promise<boolean> {
  const { mined } = findTracked(state, hash) ?? {}
  if (mined !== undefined) return !isFailed(state, hash) && mined.blockNumber > (head()?.number ?? -1)
  // Entries that are not tracked are unknown as yet, or ended: an end is final only for what was followed.
  return isRelayedLive(store.read, sender, hash)
}

/**
 * True when the entry of a transaction is known as mined, or as not mined. After a start, a takeover or a failed step
 * neither is known: the next step learns which nonces are used, and the one after it the receipts.
 */
function isSeen(state: RelayState, hash: Hex): boolean {
  const tracked = findTracked(state, hash)
  if (tracked === undefined) return false
  const { usedNonces } = state
  return tracked.mined !== undefined || (usedNonces !== undefined && tracked.entry.nonce >= usedNonces)
}
