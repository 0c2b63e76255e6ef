import type { ChainSlug, OrderId } from '@bezel/protocol'
import { every, type Repetition } from '../ground/every.ts'
import { createPublisher, type Publisher } from '../ground/publisher.ts'
import { notReady, StoreUnavailableError } from '../ground/unavailable.ts'
import { forgetCommits, numberCommit, readCommitNumbers } from '../store/commitStore.ts'
import type { Store, Transaction } from '../store/sql.ts'
import { MAX_HELD_MS } from './chainTime.ts'
import { bodyOf, ownCommit, type CommitNews, type RightsChange } from './commitBody.ts'
import { createCommitTail, type CommitTail } from './commitTail.ts'

/**
 * The commits of every chain, in the order of their numbers, whichever node made them. What a process keeps in memory
 * changes here and nowhere else: an own commit is applied as soon as all before it are, the others' are read.
 */
export interface Commits {
  of(chain: ChainSlug): ChainCommits
  /** Calls the listener with every change of rights. Returns a function that ends the subscription. */
  onRights(listener: (change: RightsChange) => void): () => void
  /** Calls the listener when everything that is known of a chain has to be read again. */
  onReload(listener: (chain: ChainSlug) => void): () => void
  /** Looks at once for commits of other nodes, because one may have been made. */
  wake(): void
  /** Begins to look for commits of other nodes, and to forget old ones. */
  start(): void
  close(): Promise<void>
}

/** The commits of one chain. */
export interface ChainCommits extends Omit<CommitTail, 'own' | 'look' | 'close'> {
  /** Numbers the transaction under way, which changes something, and tells all nodes of it once it is committed. */
  note(sql: Transaction, atMs: number, news: CommitNews): void
  /**
   * Resolves with true once everything is applied that was committed before the call, by any node, and with false when
   * that takes longer or the store does not answer.
   */
  settled(timeoutMs: number): Promise<boolean>
  /** Returns the number of the last own commit, which may be ahead of what is applied; 0 when there is none. */
  written(): number
}

export interface CommitsOptions {
  readonly now?: () => number
  readonly onError?: (error: unknown) => void
  /** Called after each own commit, to wake other nodes. */
  readonly onOwn?: (chain: ChainSlug) => void
  /** Returns true for an order whose state somebody in this process waits for. Default: for all. */
  readonly isAwaited?: (id: OrderId) => boolean
}

/** Age from which on what a process remembers answers nothing private. */
const MAX_AGE_MS = 2_000
/** Longest time that a private read waits for what other nodes committed. */
const SETTLE_MS = 250

/** Throws `NOT_READY` while what a process remembers is too old for private answers, or is just being read again. */
export function requireFresh({ isReloading, ageMs }: Pick<ChainCommits, 'isReloading' | 'ageMs'>): void {
  if (isReloading() || ageMs() > MAX_AGE_MS) throw notReady('store_lagging')
}

/**
 * Waits a moment until memory has everything that was committed before the call, by any node. While the store does not
 * answer, memory has to do for a while: throws like `requireFresh`.
 */
export async function settleFresh(commits: Pick<ChainCommits, 'settled' | 'isReloading' | 'ageMs'>): Promise<void> {
  await commits.settled(SETTLE_MS)
  requireFresh(commits)
}

/** Pause between two looks for commits of other nodes, where nothing else tells of them. */
const LOOK_MS = 100
/** Time for which commits are kept. A node that was away for longer reads everything again. */
const COMMIT_KEPT_MS = 3_600_000
/** Pause between two rounds that forget old commits. */
const FORGET_ROUND_MS = 60_000
/** Commits that are forgotten in one transaction. */
const FORGOTTEN_AT_ONCE = 2_000

export function createCommits(store: Store, options: CommitsOptions = {}): Commits {
  const { now = Date.now, onError = () => {} } = options
  const chains = new Map<ChainSlug, ChainCommits & { readonly tail: CommitTail }>()
  const rights = createPublisher<RightsChange>()
  const reloads = createPublisher<ChainSlug>()
  const rounds: Repetition[] = []
  const state = { isClosed: false }
  const looks = createLooks(async () => {
    const asked = [...chains].map(([chain, { tail }]) => [chain, tail.look()] as const)
    const numbers = await readCommitNumbers(store.read)
    for (const [chain, see] of asked) see(numbers.get(chain) ?? 0)
    return numbers
  })

  function wake(): void {
    if (store.read.engine === 'sqlite' || state.isClosed) return
    // A look under way may have been answered before the commit that woke this node.
    looks.fresh().catch(ignoreUnavailable(onError))
  }

  async function forgetOld(): Promise<void> {
    let forgotten = FORGOTTEN_AT_ONCE
    while (forgotten === FORGOTTEN_AT_ONCE && !state.isClosed) {
      forgotten = await store.transaction({ name: 'cleanup' }, (sql) =>
        forgetCommits(sql, now() - COMMIT_KEPT_MS, FORGOTTEN_AT_ONCE),
      )
    }
  }

  return {
    of(chain) {
      const known = chains.get(chain)
      if (known !== undefined) return known
      const onReload = (): void => reloads.publish(chain)
      const made = createChainCommits({ chain, store, rights, onReload, onError, looks, wake }, options)
      chains.set(chain, made)
      return made
    },
    onRights: rights.subscribe,
    onReload: reloads.subscribe,
    wake,
    start() {
      // A file of SQLite belongs to one process, whose own commits are all that there are.
      if (store.read.engine === 'sqlite') return
      rounds.push(every(LOOK_MS, async () => void (await looks.atLeastOne()), { isAtOnce: true, onError }))
      rounds.push(every(FORGET_ROUND_MS, forgetOld, { onError }))
    },
    async close() {
      state.isClosed = true
      await Promise.all(rounds.map((round) => round.close()))
      await Promise.all([...chains.values()].map(({ tail }) => tail.close()))
    },
  }
}

type Numbers = ReadonlyMap<ChainSlug, number>

/** Looks for the last commits. Whoever asks at the same time shares one. */
interface Looks {
  /** The look that is under way, or a new one. */
  atLeastOne(): Promise<Numbers>
  /** A look that begins after the call. */
  fresh(): Promise<Numbers>
}

function createLooks(look: () => Promise<Numbers>): Looks {
  let current: Promise<Numbers> | undefined
  let next: Promise<Numbers> | undefined
  function atLeastOne(): Promise<Numbers> {
    current ??= look().finally(() => (current = undefined))
    return current
  }
  return {
    atLeastOne,
    fresh() {
      if (current === undefined) return atLeastOne()
      next ??= current
        .catch(() => undefined)
        .then(() => {
          next = undefined
          return atLeastOne()
        })
      return next
    },
  }
}

/** Passes errors on, but for an unavailable store, which every request reports. */
function ignoreUnavailable(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => (error instanceof StoreUnavailableError ? undefined : onError(error))
}

function createChainCommits(
  of: {
    readonly chain: ChainSlug
    readonly store: Store
    readonly rights: Publisher<RightsChange>
    readonly onReload: () => void
    readonly onError: (error: unknown) => void
    readonly looks: Looks
    readonly wake: () => void
  },
  { onOwn, isAwaited = () => true }: CommitsOptions,
): ChainCommits & { readonly tail: CommitTail } {
  const { chain, store, rights, onError } = of
  const tail = createCommitTail({ chain, store, onError, isAwaited })
  let written = 0
  tail.follow({
    apply: (commit) => commit.rights.forEach(rights.publish),
    reload: async () => of.onReload(),
  })
  return {
    tail,
    ...tail,
    reached(number, timeoutMs) {
      if (number > tail.applied()) of.wake()
      return tail.reached(number, timeoutMs)
    },
    async settled(timeoutMs) {
      if (store.read.engine === 'sqlite') return true
      const looked = of.looks.fresh().then((numbers) => tail.reached(numbers.get(chain) ?? 0, timeoutMs))
      return within(timeoutMs, looked)
    },
    written: () => written,
    note(sql, atMs, news) {
      numberCommit(sql, { chain, atMs, maxHeldMs: MAX_HELD_MS, body: () => bodyOf(atMs, news) }, (number) => {
        written = Math.max(written, number ?? 0)
        tail.own(number, ownCommit(atMs, news))
        onOwn?.(chain)
      })
    },
  }
}

/** Resolves with what `asked` resolves with; with false when that fails or takes longer. */
async function within(timeoutMs: number, asked: Promise<boolean>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), timeoutMs)
  asked.then(resolve, () => resolve(false)).finally(() => clearTimeout(timer))
  return promise
}
