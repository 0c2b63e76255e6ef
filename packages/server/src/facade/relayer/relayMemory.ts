import type { Hex } from '@bezel/protocol'
import type { RelayEntry, VersionKind } from '../../store/relayStore.ts'
import type { MarketFees } from './fees.ts'
import type { MinedVersion, SendOutcome } from './nodeAnswers.ts'
import type { RelayContext } from './relayContext.ts'
import { newestOf, reserveOf } from './relayEntry.ts'

/** A live entry with its state beyond the store. */
export interface TrackedEntry {
  readonly entry: RelayEntry
  /** Time at which its newest version is sent again, epoch ms. */
  readonly sendAtMs: number
  /** The number of sends in a row that the node refused for an unknown reason. */
  readonly refusals: number
  /** The number of sends in a row that the node called invalid for good. */
  readonly hopeless: number
  /** True once a node has the newest version. */
  readonly isTaken: boolean
  readonly isUnderpriced: boolean
  readonly mined: MinedVersion | undefined
  /** Time at which its receipts were last asked for, epoch ms. */
  readonly askedAtMs: number
  /** Time since which its nonce is used while none of its versions is found, epoch ms. */
  readonly missingSinceMs: number | undefined
  /** Time of the last attempt to prove that somebody else used its nonce, epoch ms. */
  readonly searchedAtMs: number
  /** True when a reorganisation dropped it, or may have done so before this process knew of it. */
  readonly isDropped: boolean
  /** Judgement of `takeAim`: its numbers on the chain still belong to its orders and positions, or to others. */
  readonly aim: 'unknown' | 'there' | 'astray'
  /** Time since which it waits for what it names to be on the chain again, epoch ms. */
  readonly heldSinceMs: number | undefined
}

export interface RelayCounts {
  readonly mined: number
  readonly burnt: number
  readonly repriced: number
  /** The number of entries whose nonce somebody else used. */
  readonly lost: number
}

/** The range of nonces given out by the store. */
export interface NonceRange {
  readonly first: number
  readonly next: number
}

/** The whole memory of a running relayer. */
export interface RelayState {
  /** Live entries by their nonce. */
  readonly tracked: ReadonlyMap<number, TrackedEntry>
  readonly nonceByHash: ReadonlyMap<Hex, number>
  /** The nonces given out; `undefined` until the node was asked for the first time. */
  readonly nonces: NonceRange | undefined
  /** The nonce below which all live entries are tracked. */
  readonly loadedTo: number
  /** The number of nonces used in the node's newest block; `undefined` before the first poll. */
  readonly usedNonces: number | undefined
  /** The last known number of used nonces. Stays when a step fails; 0 before the first poll. */
  readonly minedNonces: number
  /** The number of the node's newest block. */
  readonly nodeHead: number
  /** Time since which the next unused nonce is the same, epoch ms. */
  readonly lineSinceMs: number
  /** The number of polls in a row that saw more nonces used than were given out here. */
  readonly strangeLooks: number
  readonly market: (MarketFees & { readonly atMs: number }) | undefined
  readonly feesAskedAtMs: number
  readonly balanceWei: bigint | undefined
  readonly hasNoFunds: boolean
  /** The highest possible cost of everything not mined, as of the last step plus what was enqueued since. */
  readonly outstandingWei: bigint
  /** The gas of today and what is set aside, as of the last step. */
  readonly gas: RelayGas
  /** Nonces that this process gave out and that were never part of a send. */
  readonly unsent: ReadonlySet<number>
  /** Nonces whose entries get a burn in the store. They are not sent until they are tracked with it. */
  readonly withdrawn: ReadonlySet<number>
  readonly counts: RelayCounts
}

/** Sums of gas costs, in wei. */
export interface RelayGas {
  /** Counted on the current UTC day, with what was set aside on it. */
  readonly usedWei: bigint
  /** Set aside for ways out, whenever that was. */
  readonly asideWei: bigint
}

/** The memory of a relayer. Only these transitions change it, each named after an event. */
export interface RelayMemory {
  readonly state: RelayState
  /** The sequence of nonces was opened at the start of the process. */
  opened(nonces: NonceRange | undefined): void
  /** The store was read up to the end of `nonces`. Entries that are known already stay as they are. */
  loaded(entries: readonly RelayEntry[], nonces: NonceRange | undefined): void
  /**
   * The targets of a dropped action were looked for. While that is `unknown`, it waits, and all later ones with it:
   * since `heldSinceMs`.
   */
  aimed(nonce: number, aim: TrackedEntry['aim'], heldSinceMs?: number): void
  /** The node reported its progress. Entries that it had mined and no longer has are sent again. */
  looked(at: { readonly nodeHead: number; readonly usedNonces: number }, nowMs: number): void
  /** The newest version of an entry was sent, and is due again at `sendAtMs`. */
  sent(nonce: number, said: SendOutcome, sendAtMs: number): void
  /** The fees and the balance were read; `undefined` stands for an answer that could not be read. */
  priced(of: AskedFees, nowMs: number): void
  /** The receipts of an entry were requested. */
  asked(nonce: number, nowMs: number): void
  /** A version is in a block, and the entry counts its actual cost. */
  mined(entry: RelayEntry, version: MinedVersion): void
  /** None of the entry's versions is in a block, although its nonce is used. */
  missing(nonce: number, nowMs: number): void
  /** A version is in a final block. */
  ended(nonce: number, kind: VersionKind): void
  /** An entry got a new version, which no node has yet. */
  renewed(entry: RelayEntry): void
  /** Unused nonces without an entry got entries that burn them. */
  filled(entries: readonly RelayEntry[]): void
  /** The search for the transaction that used the nonce was run. */
  searched(nonce: number, nowMs: number): void
  /** Somebody else used the nonce. */
  lost(nonce: number): void
  /** A poll was compared with the nonces given out here. `isStrange`: it saw others used. */
  compared(isStrange: boolean): void
  /** An action was enqueued that costs at most `wei`. */
  reserved(nonce: number, wei: bigint): void
  /** The entries are about to be sent. */
  offered(nonces: readonly number[]): void
  /** An entry gets a burn in the store. From now on nothing of it is sent but that. */
  withdrawing(nonce: number): void
  /** The burns were not stored. */
  stayed(nonces: readonly number[]): void
  /** The cost of everything not mined was added up anew, and the sums of the store were read. */
  reckoned(burnGas: bigint, gas: RelayGas): void
  /**
   * Another process gave `changed` entries new versions, and ended those of the nonces `gone`. They are sent again by
   * whoever sends.
   */
  followed(changed: readonly RelayEntry[], gone: readonly number[]): void
  /** This process became the sender, or another one did: what is known of entries is rebuilt. */
  led(isSender: boolean): void
  /** A step failed: the state of entries is rebuilt from the store and the node. The rest stays valid. */
  forgot(): void
}

export interface AskedFees {
  readonly market: MarketFees | undefined
  readonly balanceWei: bigint | undefined
  /** The balance from which on there is enough gas again. */
  readonly lowBalanceWei: bigint
}

const NOTHING_LOADED = { loadedTo: 0, usedNonces: undefined, nodeHead: -1, lineSinceMs: 0, strangeLooks: 0 }

const NOTHING_KNOWN = {
  ...NOTHING_LOADED,
  nonces: undefined,
  market: undefined,
  feesAskedAtMs: Number.NEGATIVE_INFINITY,
  balanceWei: undefined,
  hasNoFunds: false,
  outstandingWei: 0n,
  minedNonces: 0,
  gas: { usedWei: 0n, asideWei: 0n },
  counts: { mined: 0, burnt: 0, repriced: 0, lost: 0 },
}

const UNAIMED = { aim: 'unknown', heldSinceMs: undefined } as const

const MINED = { missingSinceMs: undefined, isDropped: false, ...UNAIMED }

const UNSENT = { sendAtMs: 0, refusals: 0, hopeless: 0, isTaken: false, isUnderpriced: false }

export function createRelayMemory(): RelayMemory {
  const { track, untrack, alter, follow, clear, noteUnsent, setSender, ...sets } = createTracking()
  const { tracked, unsent, withdrawn } = sets
  let state: RelayState = { ...NOTHING_KNOWN, ...sets }

  function change(changes: Partial<RelayState>): void {
    state = { ...state, ...changes }
  }

  function count(what: keyof RelayCounts): void {
    change({ counts: { ...state.counts, [what]: state.counts[what] + 1 } })
  }

  return {
    get state() {
      return state
    },
    opened: (nonces) => change({ nonces }),
    loaded(entries, nonces) {
      for (const entry of entries) if (!tracked.has(entry.nonce)) track(entry)
      change({ nonces, loadedTo: nonces?.next ?? 0 })
    },
    looked(at, nowMs) {
      const since = at.usedNonces === state.usedNonces ? {} : { lineSinceMs: nowMs }
      change({ ...at, ...since, minedNonces: at.usedNonces })
      for (const { entry } of unminedIn(state)) alter(entry.nonce, unmined)
    },
    sent(nonce, said, sendAtMs) {
      alter(nonce, (of) => ({ ...afterSend(of, said), sendAtMs }))
      if (said === 'no_funds' || said === 'taken') change({ hasNoFunds: said === 'no_funds' })
    },
    priced: (of, nowMs) => change(pricesOf(of, nowMs)),
    aimed: (nonce, aim, heldSinceMs) => alter(nonce, () => ({ aim, heldSinceMs })),
    asked: (nonce, nowMs) => alter(nonce, () => ({ askedAtMs: nowMs })),
    mined: (entry, mined) => alter(entry.nonce, () => ({ ...MINED, entry, mined })),
    missing: (nonce, nowMs) => alter(nonce, ({ missingSinceMs = nowMs }) => ({ mined: undefined, missingSinceMs })),
    ended(nonce, kind) {
      untrack(nonce)
      count(kind === 'burn' ? 'burnt' : 'mined')
    },
    renewed(entry) {
      const before = tracked.get(entry.nonce)?.entry
      if (before !== undefined && newestOf(before).kind === newestOf(entry).kind) count('repriced')
      alter(entry.nonce, () => ({ ...UNSENT, entry }))
    },
    filled(entries) {
      for (const entry of entries) track(entry)
    },
    searched: (nonce, nowMs) => alter(nonce, () => ({ searchedAtMs: nowMs })),
    lost(nonce) {
      untrack(nonce)
      count('lost')
    },
    compared: (isStrange) => change({ strangeLooks: isStrange ? state.strangeLooks + 1 : 0 }),
    reserved(nonce, wei) {
      noteUnsent(nonce)
      change({ outstandingWei: state.outstandingWei + wei })
    },
    offered: (nonces) => nonces.forEach((nonce) => unsent.delete(nonce)),
    withdrawing: (nonce) => void withdrawn.add(nonce),
    stayed: (nonces) => nonces.forEach((nonce) => withdrawn.delete(nonce)),
    reckoned: (burnGas, gas) => change({ outstandingWei: unminedWei(state, burnGas), gas }),
    followed: follow,
    led(isSender) {
      setSender(isSender)
      change(NOTHING_LOADED)
    },
    forgot() {
      clear()
      change(NOTHING_LOADED)
    },
  }
}

/** Creates the index of live entries by their nonces and by the hashes of their versions, and sets of nonces. */
function createTracking() {
  const tracked = new Map<number, TrackedEntry>()
  const nonceByHash = new Map<Hex, number>()
  const unsent = new Set<number>()
  const withdrawn = new Set<number>()
  /** False while another process sends, so that nothing given out here is known to be unsent. */
  let isSender = true

  function keep(of: TrackedEntry): void {
    tracked.set(of.entry.nonce, of)
    if (newestOf(of.entry).kind === 'burn') withdrawn.delete(of.entry.nonce)
    for (const { hash } of of.entry.versions) nonceByHash.set(hash, of.entry.nonce)
  }

  function alter(nonce: number, changesOf: (of: TrackedEntry) => Partial<TrackedEntry>): void {
    const of = tracked.get(nonce)
    if (of !== undefined) keep({ ...of, ...changesOf(of) })
  }

  function untrack(nonce: number): void {
    for (const { hash } of tracked.get(nonce)?.entry.versions ?? []) nonceByHash.delete(hash)
    tracked.delete(nonce)
    withdrawn.delete(nonce)
  }

  return {
    tracked,
    nonceByHash,
    unsent,
    withdrawn,
    track: (entry: RelayEntry) => keep({ ...firstSight(entry), isDropped: !unsent.has(entry.nonce) }),
    alter,
    untrack,
    follow(changed: readonly RelayEntry[], gone: readonly number[]) {
      for (const entry of changed) alter(entry.nonce, () => ({ ...UNSENT, entry }))
      for (const nonce of gone) untrack(nonce)
    },
    noteUnsent(nonce: number) {
      if (isSender) unsent.add(nonce)
    },
    setSender(isOwn: boolean) {
      isSender = isOwn
      for (const known of [tracked, nonceByHash, unsent, withdrawn]) known.clear()
    },
    clear() {
      tracked.clear()
      nonceByHash.clear()
    },
  }
}

/** Returns what fees and balance change. */
function pricesOf({ market, balanceWei, lowBalanceWei }: AskedFees, nowMs: number): Partial<RelayState> {
  return {
    ...(market !== undefined && { market: { ...market, atMs: nowMs } }),
    ...(balanceWei !== undefined && { balanceWei }),
    ...(market !== undefined && balanceWei !== undefined && { feesAskedAtMs: nowMs }),
    ...(balanceWei !== undefined && balanceWei >= lowBalanceWei && { hasNoFunds: false }),
  }
}

function firstSight(entry: RelayEntry): TrackedEntry {
  return {
    ...UNSENT,
    entry,
    mined: undefined,
    askedAtMs: Number.NEGATIVE_INFINITY,
    missingSinceMs: undefined,
    searchedAtMs: Number.NEGATIVE_INFINITY,
    isDropped: false,
    ...UNAIMED,
  }
}

/**
 * Returns the changes for an entry that is not mined. One that was in a block was dropped by a reorganisation, and the
 * nodes may have forgotten it, so it is sent again at once.
 */
function unmined({ mined }: TrackedEntry): Partial<TrackedEntry> {
  const missingSinceMs = undefined
  if (mined === undefined) return { missingSinceMs }
  return { missingSinceMs, mined: undefined, isTaken: false, sendAtMs: 0, isDropped: true, ...UNAIMED }
}

function afterSend({ isTaken, refusals, hopeless }: TrackedEntry, said: SendOutcome): Partial<TrackedEntry> {
  return {
    isTaken: isTaken || said === 'taken',
    isUnderpriced: said === 'underpriced',
    hopeless: said === 'hopeless' ? hopeless + 1 : 0,
    refusals: said === 'refused' || said === 'hopeless' ? refusals + 1 : 0,
  }
}

function unminedWei({ tracked }: RelayState, burnGas: bigint): bigint {
  let wei = 0n
  for (const { entry, mined } of tracked.values()) if (mined === undefined) wei += reserveOf(entry, burnGas)
  return wei
}

/** Finds the entry that a version belongs to. */
export function findTracked({ tracked, nonceByHash }: RelayState, hash: Hex): TrackedEntry | undefined {
  return tracked.get(nonceByHash.get(hash) ?? -1)
}

/** Returns the entries in the order of their nonces. */
export function inNonceOrder({ tracked }: RelayState): TrackedEntry[] {
  return [...tracked.values()].toSorted((a, b) => a.entry.nonce - b.entry.nonce)
}

/** Returns the entries whose nonce the node's newest block has not used, in nonce order; none before the first poll. */
export function unminedIn(state: RelayState): TrackedEntry[] {
  const { usedNonces } = state
  return usedNonces === undefined ? [] : inNonceOrder(state).filter(({ entry }) => entry.nonce >= usedNonces)
}

/** Returns the newest block that is final for both follower and node; negative when there is none. */
export function finalBlock({ finality, head }: RelayContext, { nodeHead }: RelayState): number {
  return finality.lastFinal(Math.min(nodeHead, head()?.number ?? -1))
}
