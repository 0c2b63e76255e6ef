import type { ChainSlug, OrderId } from '@bezel/protocol'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { listCommits, readCommitNumbers, type StoredCommit } from '../store/commitStore.ts'
import type { Store } from '../store/sql.ts'
import { createAppliedCommits, type AppliedCommits } from './appliedCommits.ts'
import { readCommits, type Commit } from './commitBody.ts'

/** Whoever keeps something in memory that commits change. */
export interface CommitFollower {
  /**
   * Applies a commit. All of a chain come in the order of their numbers, each once. The number is `undefined` before
   * the beginning.
   */
  apply(commit: Commit, number: number | undefined): void
  /** Reads everything again, because commits are missing. */
  reload(): Promise<void>
}

/** The end of a chain's commits, up to which everything in memory is applied. */
export interface CommitTail extends Pick<AppliedCommits, 'reached'> {
  /** Returns the number of the last applied commit. */
  applied(): number
  /** Returns the time for which it is not known whether other nodes committed something; 0 where there are none. */
  ageMs(): number
  /** True while everything is read again. */
  isReloading(): boolean
  follow(follower: CommitFollower): void
  /** Reads the number of the last commit. Everything that is kept in memory is read after it. */
  readNumber(): Promise<number>
  /** Begins to apply the commits after a number. Before, own ones are applied as they come, and others not at all. */
  begin(after: number): void
  /** Takes over an own commit; `undefined` when its number is not known. */
  own(number: number | undefined, commit: Commit): void
  /** Begins a look for the last commit. Returns a function that takes its number over. */
  look(): (number: number) => void
  close(): Promise<void>
}

interface CommitTailOptions {
  readonly chain: ChainSlug
  readonly store: Pick<Store, 'read'>
  readonly onError: (error: unknown) => void
  /** Returns true for an order whose state somebody waits for. */
  readonly isAwaited: (id: OrderId) => boolean
}

export function createCommitTail(options: CommitTailOptions): CommitTail {
  const { chain, store, onError } = options
  const isShared = store.read.engine === 'postgres'
  const applied = createAppliedCommits()
  const followers: CommitFollower[] = []
  const reader = createCommitReader(options, applied, followers)

  return {
    reached: applied.reached,
    applied: () => applied.number() ?? 0,
    isReloading: reader.isLost,
    ageMs: () => (isShared && applied.number() !== undefined ? applied.ageMs() : 0),
    follow: (follower) => void followers.push(follower),
    readNumber: () => readNumber(store, chain),
    begin(after) {
      applied.restart(after)
    },
    own(number, commit) {
      const last = applied.number()
      if (isShared && last !== undefined) return reader.own(number, commit)
      tell(followers, { commit, number: last === undefined ? undefined : (number ?? last + 1) }, onError)
      if (last !== undefined) applied.moveTo(number ?? last + 1)
    },
    look() {
      const sentAtMs = performance.now()
      const before = applied.number()
      return (number) => {
        if (before === undefined) return
        // A database that knows less than before was put back to an earlier state.
        if (number < before) reader.lose(`its last commit is ${number}, and was ${before}`)
        else applied.seen(number, sentAtMs)
        reader.catchUp(number)
      }
    },
    async close() {
      applied.close()
      await reader.close()
    },
  }
}

async function readNumber({ read }: Pick<Store, 'read'>, chain: ChainSlug): Promise<number> {
  return (await readCommitNumbers(read)).get(chain) ?? 0
}

function tell(
  followers: readonly CommitFollower[],
  { commit, number }: { readonly commit: Commit; readonly number: number | undefined },
  onError: (error: unknown) => void,
): void {
  for (const follower of followers) {
    try {
      follower.apply(commit, number)
    } catch (error) {
      onError(error)
    }
  }
}

/** Applies the commits of all nodes in order: own ones are at hand, the others are read. */
interface CommitReader {
  /** Takes over an own commit, which is applied at once where none is missing before it. */
  own(number: number | undefined, commit: Commit): void
  /** Applies everything up to a commit, in the background. */
  catchUp(number: number): void
  /** Has everything read again. */
  lose(reason: string): void
  isLost(): boolean
  close(): Promise<void>
}

/** Commits that are read at once. */
const READ_AT_ONCE = 200

/** Reads commits of other nodes. Returns the reason when one can't be read. */
async function readForeign(
  { chain, store, isAwaited }: CommitTailOptions,
  foreign: readonly StoredCommit[],
): Promise<readonly Commit[] | string> {
  try {
    return await readCommits(store.read, { chain, bodies: foreign.map(({ body }) => body), isAwaited })
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw error
    return `one of the commits from ${foreign[0]?.number} on can't be read (${String(error)})`
  }
}

interface ReaderState {
  /** The last commit that is known to exist. */
  newest: number
  /** The reason why everything has to be read again; `undefined` while it need not. */
  lost: string | undefined
  isClosed: boolean
}

/** Applies the own commits that follow on what is applied. `held` has those before which others were missing. */
function applyFrom(
  held: Map<number, Commit>,
  last: () => number,
  apply: (number: number, commit: Commit) => void,
): void {
  for (let next = last() + 1; held.has(next); next += 1) {
    const commit = held.get(next)!
    held.delete(next)
    apply(next, commit)
  }
}

function createCommitReader(
  options: CommitTailOptions,
  applied: AppliedCommits,
  followers: readonly CommitFollower[],
): CommitReader {
  const { chain, store, onError } = options
  const state: ReaderState = { newest: 0, lost: undefined, isClosed: false }
  const held = new Map<number, Commit>()
  const last = (): number => applied.number() ?? 0
  const apply = (number: number, commit: Commit): void => {
    tell(followers, { commit, number }, onError)
    applied.moveTo(number)
  }
  const applyHeld = (): void => applyFrom(held, last, apply)
  let reading: Promise<void> | undefined

  async function readOn(): Promise<void> {
    while (!state.isClosed && state.lost === undefined && last() < state.newest) {
      const after = last()
      // No further than the chain has come: a row of the future is no commit.
      const stored = await listCommits(store.read, chain, after, Math.min(READ_AT_ONCE, state.newest - after))
      const isDense = stored.length > 0 && stored.every(({ number }, at) => number === after + 1 + at)
      if (isDense) await applyStored(stored)
      else state.lost = `the commits after ${after} are not complete`
    }
    if (state.lost !== undefined && !state.isClosed) await reload(state.lost)
  }

  async function applyStored(stored: readonly StoredCommit[]): Promise<void> {
    const foreign = stored.filter(({ number }) => !held.has(number) && number > last())
    const read = await readForeign(options, foreign)
    if (typeof read === 'string') return void (state.lost = read)
    for (const [at, { number }] of foreign.entries()) {
      applyHeld()
      if (number === last() + 1) apply(number, read[at]!)
    }
    applyHeld()
  }

  /** Reads everything again, as of a number that is read before. */
  async function reload(reason: string): Promise<void> {
    onError(new Error(`everything of ${chain} is read again, because ${reason}`))
    const number = await readNumber(store, chain)
    for (const follower of followers) await follower.reload()
    for (const own of held.keys()) if (own <= number) held.delete(own)
    state.newest = number
    state.lost = undefined
    applied.restart(number)
    applyHeld()
  }

  function catchUp(number: number): void {
    state.newest = Math.max(state.newest, number)
    if (state.isClosed || (state.lost === undefined && last() >= state.newest)) return
    // What an unavailable store keeps from being read is tried again by the next look.
    reading ??= readOn()
      .catch((error: unknown) => (error instanceof StoreUnavailableError ? undefined : onError(error)))
      .finally(() => (reading = undefined))
  }

  return {
    own(number, commit) {
      // A commit whose number was lost is read by the next look.
      if (number === undefined || number <= last()) return
      held.set(number, commit)
      if (state.lost === undefined) applyHeld()
      if (held.size > 0) catchUp(number)
    },
    catchUp,
    lose: (reason) => void (state.lost ??= reason),
    isLost: () => state.lost !== undefined,
    close() {
      state.isClosed = true
      return Promise.resolve(reading)
    },
  }
}
