import type { VersionKind, RelayEntry } from '../../store/relayRecord.ts'
import type { Hex } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { RpcClient } from '../../chain/rpcClient.ts'
import type { RelaySender } from '../../store/relayStore.ts'
import type { Sql, Store } from '../../store/sql.ts'
import type { AttemptId } from '../../trading/orders/orderModel.ts'
import type { MarketFees } from './fees.ts'
import type { RelayerSettings } from './relayerSettings.ts'
import type { RelaySigner } from './relayerKey.ts'
import type { ServedChain } from '../../chain/servedChain.ts'

/** Called in the transaction that changes which hash an attempt is known by: it was re-priced, or another of its versions was mined. */
export type OnRelayHash = (sql: Sql, of: { readonly attemptId: AttemptId; readonly hash: Hex }) => Promise<void>

/** What the relayer of a chain works with. */
export interface RelayContext {
  readonly chain: Pick<ServedChain, 'slug' | 'chainId' | 'diamond' | 'finalityDepth'>
  readonly sender: RelaySender
  readonly signer: RelaySigner
  readonly client: RpcClient
  readonly store: Store
  readonly settings: RelayerSettings
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
  /** The last block that was followed: nothing is final that the follower does not know of. */
  readonly head: () => { readonly number: number } | undefined
  readonly onHash: OnRelayHash
}

/** A version in a block, for now. */
export interface MinedVersion {
  readonly hash: Hex
  readonly kind: VersionKind
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly costWei: bigint
  /** It is in the block, and did nothing. */
  readonly isReverted: boolean
}

/** A live entry and what is known of it beyond the store. All of that may be forgotten at any time: it is found out again. */
export interface TrackedEntry {
  entry: RelayEntry
  /** When its newest version is to be sent again. */
  sendAtMs: number
  /** Sends in a row that the node refused without a reason that is known here. */
  refusals: number
  /** Sends in a row to which the node said that it never takes it. */
  hopeless: number
  /** A node has the newest version. */
  isTaken: boolean
  isUnderpriced: boolean
  mined: MinedVersion | undefined
  /** When its receipts were last asked for. */
  askedAtMs: number
  /** Since when its nonce is used and none of its versions is found. */
  missingSinceMs: number | undefined
  /** When it was last tried to prove that somebody else used its nonce. */
  searchedAtMs: number
}

export interface RelayCounts {
  mined: number
  burnt: number
  repriced: number
  /** Entries whose nonce somebody else used. */
  lost: number
}

/** What a running relayer remembers. */
export interface RelayMemory {
  readonly tracked: Map<number, TrackedEntry>
  readonly nonceByHash: Map<Hex, number>
  /** Of the store's sequence; `undefined` until the node was asked for the first time. */
  nonces: { readonly first: number; readonly next: number } | undefined
  /** Live entries below this nonce are tracked. */
  loadedTo: number
  /** How many nonces are used in the node's newest block; `undefined` before the first look. */
  usedNonces: number | undefined
  /** The node's newest block. */
  nodeHead: number
  /** Since when the next nonce in line is the same. */
  lineSinceMs: number
  /** Looks in a row that saw more nonces used than were given out here. */
  strangeLooks: number
  market: (MarketFees & { readonly atMs: number }) | undefined
  feesAskedAtMs: number
  balanceWei: bigint | undefined
  hasNoFunds: boolean
  /** The most that all that is not mined can cost, as of the last step and with what was taken since. */
  outstandingWei: bigint
  readonly counts: RelayCounts
}

export function createRelayMemory(): RelayMemory {
  return {
    tracked: new Map(),
    nonceByHash: new Map(),
    nonces: undefined,
    loadedTo: 0,
    usedNonces: undefined,
    nodeHead: -1,
    lineSinceMs: 0,
    strangeLooks: 0,
    market: undefined,
    feesAskedAtMs: Number.NEGATIVE_INFINITY,
    balanceWei: undefined,
    hasNoFunds: false,
    outstandingWei: 0n,
    counts: { mined: 0, burnt: 0, repriced: 0, lost: 0 },
  }
}

export function track(memory: RelayMemory, entry: RelayEntry): void {
  memory.tracked.set(entry.nonce, {
    entry,
    sendAtMs: 0,
    refusals: 0,
    hopeless: 0,
    isTaken: false,
    isUnderpriced: false,
    mined: undefined,
    askedAtMs: Number.NEGATIVE_INFINITY,
    missingSinceMs: undefined,
    searchedAtMs: Number.NEGATIVE_INFINITY,
  })
  for (const { hash } of entry.versions) memory.nonceByHash.set(hash, entry.nonce)
}

export function untrack(memory: RelayMemory, { nonce, versions }: RelayEntry): void {
  memory.tracked.delete(nonce)
  for (const { hash } of versions) memory.nonceByHash.delete(hash)
}

/** In the order of their nonces. */
export function inNonceOrder(memory: RelayMemory): TrackedEntry[] {
  return [...memory.tracked.values()].toSorted((a, b) => a.entry.nonce - b.entry.nonce)
}

/** Whose nonce the node's newest block has not used, in the order of their nonces; none before the first look. */
export function unminedIn(memory: RelayMemory): TrackedEntry[] {
  const { usedNonces } = memory
  return usedNonces === undefined ? [] : inNonceOrder(memory).filter(({ entry }) => entry.nonce >= usedNonces)
}
