import type { Address, Hex } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import { headNumberCall, quantity, resultOf } from '../chain/blocks.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { every } from '../ground/every.ts'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import type { ChainHead } from '../journal/clock.ts'
import type { FollowedBlock } from '../store/blockStore.ts'
import { readCommitPoint } from '../store/chainTimeStore.ts'
import { isLeaseFree, readTold } from '../store/leaseStore.ts'
import { listUnproven, readSnapshot, type StoredSnapshot } from '../store/snapshotStore.ts'
import type { Store } from '../store/sql.ts'
import type { ChainMarkets } from '../trading/market/chainMarkets.ts'
import { UNKNOWN_TIMEOUT_BLOCKS } from '../trading/orders/orderModel.ts'
import { parseTold, type LeaderState } from './leaderState.ts'
import { maxLagBlocks, type Follower } from './startFollower.ts'

export interface SharedFollowerOptions {
  readonly chain: ServedChain
  readonly client: RpcClient
  readonly store: Pick<Store, 'read'>
  /** Moved to the last stored block while another node follows. */
  readonly head: ChainHead
  readonly markets: () => ChainMarkets | undefined
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'error'>
}

/** The state of a chain that one of several nodes follows: this one by its blocks, every other one by the store. */
export interface SharedFollower extends Follower {
  /** Returns true while this node follows the chain. */
  isOwn(): boolean
  /** Follows the chain by this node from now on. Returns the function that ends it. */
  lead(start: () => Follower): () => Promise<void>
  /** Returns what the node that follows the chain told; `undefined` while it is this one. */
  leaderState(): LeaderState | undefined
  /**
   * Takes over the head that another node told. Without it, the head is looked for every 250 ms. `doubted`: traders who
   * are unproven from then on. Default none.
   */
  noteHead(block: FollowedBlock | undefined, doubted?: readonly Address[]): void
  /** Returns false when the head moves without being told, as by a node of an older version. */
  isTold(): boolean
}

/** Interval between two looks at the stored head. */
const HEAD_LOOK_MS = 250
/** Interval between two looks at who is proven, and at whether anybody follows. */
const KNOWLEDGE_LOOK_MS = 1_000
/** Interval between two looks at the node's head. Rare, because calls to a live node cost money. */
const NODE_LOOK_MS = 10_000
/** Time without an answer of the store or the node, or without a leader, after which the chain is lagging. */
const MAX_SILENCE_MS = 10_000
/** Time after which a head that was found and not told has no commit that tells it. */
const MAX_UNTOLD_MS = 5_000
/** Time for which the stored state stands while a node that begins to follow catches up. */
const CATCH_UP_MS = 10_000

/** Follows a chain by the store, and by blocks while this node leads, until it is closed. */
export function openSharedFollower(options: SharedFollowerOptions): SharedFollower {
  const { now } = options
  let own: Follower | undefined
  let ownSinceMs = 0
  const stored = watchStored(options, () => own === undefined)

  /** Returns the one to ask: a follower that has not caught up yet knows less than the store. */
  function current(): Follower {
    if (own === undefined) return stored
    const isCatchingUp = own.reason() === 'starting' && now() - ownSinceMs < CATCH_UP_MS
    return isCatchingUp && stored.reason() === undefined ? stored : own
  }

  return {
    head: () => current().head(),
    reason: () => current().reason(),
    knownSince: () => current().knownSince(),
    isKnown: (trader) => current().isKnown(trader),
    unprovenTraders: () => current().unprovenTraders(),
    snapshotProgress: () => current().snapshotProgress(),
    clock: () => current().clock(),
    stats: () => (own ?? stored).stats(),
    isOwn: () => own !== undefined,
    leaderState: () => (own === undefined ? stored.leaderState() : undefined),
    lead(start) {
      const started = start()
      own = started
      ownSinceMs = now()
      return async () => {
        await started.close()
        if (own === started) own = undefined
        await stored.takeOver(started.stats().lagBlocks)
      }
    },
    noteHead: stored.noteHead,
    isTold: () => own !== undefined || stored.isTold(),
    async close() {
      await stored.close()
      await own?.close()
    },
  }
}

/** State of a chain that another node follows, as the store and the node tell it. */
interface StoredView {
  snapshot: StoredSnapshot | undefined
  unproven: ReadonlySet<Address>
  told: LeaderState | undefined
  lagBlocks: number
  /** Times at which the store, the node and the lease last said that all is well; `undefined` before the first. */
  storeAtMs: number | undefined
  nodeAtMs: number
  followedAtMs: number
}

type StoredFollower = Follower &
  Pick<SharedFollower, 'noteHead' | 'isTold' | 'leaderState'> & {
    /** Goes on where this node followed until now, so many blocks behind the node. */
    takeOver(lagBlocks: number): Promise<void>
  }

function unreadView(nowMs: number): StoredView {
  return {
    snapshot: undefined,
    unproven: new Set(),
    told: undefined,
    lagBlocks: 0,
    storeAtMs: undefined,
    nodeAtMs: nowMs,
    followedAtMs: nowMs,
  }
}

/** Watches the store. Moves the head only while `isInCharge`, because a follower moves it itself. */
function watchStored(options: SharedFollowerOptions, isInCharge: () => boolean): StoredFollower {
  const { chain, client, store, head, markets, now, log } = options
  const { slug, startBlock } = chain
  const view = unreadView(now())
  let isKnowledgeRead = false
  /** Number of times that another node told of unproven traders. */
  let doubts = 0
  const storedHead = createStoredHead(options, isInCharge)
  const onError = (err: unknown): void => log.error({ chain: slug, err }, 'the followed chain could not be looked at')

  async function lookAtHead(): Promise<void> {
    if ((await storedHead.look()) && isKnowledgeRead) view.storeAtMs = now()
  }

  async function lookAtKnowledge(): Promise<void> {
    if (!isInCharge()) return
    const lease = { role: 'follower', chain: slug } as const
    const before = doubts
    // Before the unproven traders, so that those of a complete one are among them.
    const snapshot = await readSnapshot(store.read, slug)
    const [unproven, isFree, leader] = await Promise.all([
      listUnproven(store.read, slug),
      isLeaseFree(store.read, lease, ''),
      readTold(store.read, lease),
    ])
    view.snapshot = snapshot
    view.told = parseTold(leader)
    // What was read before a trader was doubted does not know of it.
    if (before === doubts) view.unproven = new Set(unproven.map(({ trader }) => trader))
    if (!isFree) view.followedAtMs = now()
    isKnowledgeRead = true
  }

  async function lookAtNode(): Promise<void> {
    if (!isInCharge()) return
    const [outcome] = await client.batch([headNumberCall])
    view.lagBlocks = Math.max(0, quantity(resultOf(outcome)) - (head.current()?.number ?? 0))
    view.nodeAtMs = now()
  }

  const quietly = (error: unknown): void => {
    // A node that is away shows by the time since its last answer.
    if (!(error instanceof NodeUnavailableError)) onError(error)
  }
  const looks = [
    every(KNOWLEDGE_LOOK_MS, lookAtKnowledge, { isAtOnce: true, onError }),
    every(HEAD_LOOK_MS, lookAtHead, { isAtOnce: true, onError }),
    every(NODE_LOOK_MS, lookAtNode, { onError: quietly }),
  ]
  return {
    ...createStoredAnswers(options, view),
    clock: () => {
      const { number: headBlock = 0, timestampMs: headMs = 0 } = head.current() ?? {}
      const timeoutBlocks = markets()?.marketOrdersTimeoutBlocks ?? UNKNOWN_TIMEOUT_BLOCKS
      return { nowMs: now(), headBlock, headMs, timeoutBlocks }
    },
    knownSince() {
      const found = view.snapshot?.isComplete === true ? view.snapshot.block : undefined
      const block = found?.number ?? startBlock
      if (head.current() === undefined || block === undefined) return undefined
      return { block, timestampMs: found?.timestampMs ?? null }
    },
    noteHead(block, doubted = []) {
      if (doubted.length > 0) {
        doubts += 1
        view.unproven = view.unproven.union(new Set(doubted))
      }
      storedHead.noteHead(block)
    },
    isTold: storedHead.isTold,
    takeOver(lagBlocks) {
      Object.assign(view, { lagBlocks, nodeAtMs: now(), followedAtMs: now() })
      return lookAtKnowledge().then(lookAtHead)
    },
    leaderState: () => view.told,
    close: async () => void (await Promise.all(looks.map((look) => look.close()))),
  }
}

/** The head of a chain that another node follows. */
interface StoredHead extends Pick<SharedFollower, 'isTold'> {
  noteHead(block: FollowedBlock | undefined): void
  /** Reads the stored head. Returns false when this node follows by itself. */
  look(): Promise<boolean>
}

function createStoredHead({ chain, store, head, now }: SharedFollowerOptions, isInCharge: () => boolean): StoredHead {
  /** Number of heads that other nodes told, and the hash of the last one; at first that of the first one found. */
  let told = 0
  let toldHash: Hex | undefined
  /** Time since which the head is one that nobody told. */
  let untoldSinceMs: number | undefined

  function noteFound(block: FollowedBlock | undefined): void {
    head.moveTo(block)
    toldHash ??= block?.hash
    untoldSinceMs = block?.hash === toldHash ? undefined : (untoldSinceMs ?? now())
  }

  return {
    isTold: () => now() - (untoldSinceMs ?? now()) < MAX_UNTOLD_MS,
    noteHead(block) {
      if (!isInCharge()) return
      told += 1
      toldHash = block?.hash
      untoldSinceMs = undefined
      head.moveTo(block)
    },
    async look() {
      if (!isInCharge()) {
        toldHash = undefined
        return false
      }
      const before = told
      const point = await readCommitPoint(store.read, chain.slug)
      if (!isInCharge()) return false
      // What was told meanwhile may be newer than what was read.
      if (before === told) noteFound(point.head)
      return true
    },
  }
}

type StoredAnswers = Pick<Follower, 'head' | 'reason' | 'isKnown' | 'unprovenTraders' | 'snapshotProgress' | 'stats'>

function createStoredAnswers(
  { chain, head, markets, now }: SharedFollowerOptions,
  view: Readonly<StoredView>,
): StoredAnswers {
  // A snapshot ends once that was read with the traders whom it leaves unproven, which is later than its first head.
  const isTakingSnapshot = (): boolean =>
    view.snapshot?.isComplete === false ||
    (head.current() === undefined && (chain.startBlock === undefined || view.snapshot !== undefined))
  const isSilent = (): boolean => {
    const { storeAtMs = 0, nodeAtMs, followedAtMs } = view
    return now() - Math.min(storeAtMs, nodeAtMs + NODE_LOOK_MS, followedAtMs) > MAX_SILENCE_MS
  }
  return {
    head: head.current,
    reason() {
      if (view.storeAtMs === undefined) return 'starting'
      if (isTakingSnapshot()) return 'snapshot'
      if (head.current() === undefined) return 'starting'
      if (view.told?.isTooDeep === true) return 'reorg_too_deep'
      const isBehind = view.lagBlocks > maxLagBlocks(chain.slug, markets()?.blocksPerHour)
      return isSilent() || isBehind ? 'chain_lagging' : undefined
    },
    isKnown: (trader) => view.storeAtMs !== undefined && !isTakingSnapshot() && !view.unproven.has(trader),
    unprovenTraders: () => view.unproven.size,
    snapshotProgress: () =>
      view.snapshot && {
        block: view.snapshot.block.number,
        listed: view.snapshot.traderCount,
        read: view.snapshot.nextTrader,
      },
    stats: () => ({ blocksApplied: 0, blocksUndone: 0, eventsDecoded: 0, lagBlocks: view.lagBlocks }),
  }
}
