import { performance } from 'node:perf_hooks'
import type { FastifyBaseLogger } from 'fastify'
import { every as everyInterval, type Every } from '../ground/every.ts'
import { LeaseLostError } from '../ground/unavailable.ts'
import {
  acquireLease,
  holdLease,
  isLeaseFree,
  LEASE_MS,
  releaseLease,
  renewLease,
  type LeaseName,
  type LeaseTerm,
} from '../store/leaseStore.ts'
import type { Store, Transaction } from '../store/sql.ts'
import type { AccountLog } from './accountLog.ts'

/** A lease that this process took. */
export interface Lease extends LeaseTerm {
  /** False from the moment at which another node may have taken the lease. */
  isHeld(): boolean
  /** Ends the term, because a transaction found that the lease is another's. */
  noteLost(): void
}

/** Does the work of a leader; `open` ends it when the lease is lost. */
export type Lead = (lease: Lease, open: AsyncDisposableStack) => void | Promise<void>

export interface LeaseOptions {
  readonly store: Pick<Store, 'read' | 'transaction'>
  readonly name: LeaseName
  /** Name of this process, which no other one ever has. */
  readonly holder: string
  /** Called each time the lease is gained, never while the work of the last term has not ended. */
  readonly lead: Lead
  /** Returns what the leader tells all other nodes with each renewal. Default: nothing. */
  readonly tell?: (() => string) | undefined
  /** Returns false while this node must neither lead nor take the lead. Default: it always may. */
  readonly mayLead?: (() => boolean) | undefined
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
  /** Clock that never steps, in ms, and goes on while the process is stopped. Default that of the process. */
  readonly monotonicMs?: () => number
  /** Timer of the rounds. Default the clock of the process; tests pass their own. */
  readonly every?: Every
}

/** The rounds that take a lease and keep it. */
export interface LeaseRounds {
  /** Resolves after the first try, with the work begun if the lease was free. */
  readonly tried: Promise<void>
  /** True while this node leads. */
  isHeld(): boolean
  /** Ends the work and then gives the lease away, so that another node goes on at once. */
  close(): Promise<void>
}

/** Interval of renewals, and of tries of those who wait for the lease. */
const RENEW_MS = 1_000
/** Interval of the looks at whether the lease has run out, also while a renewal hangs. */
const LOOK_MS = 250
/** Time by which a lease ends here before another node can take it. */
const MARGIN_MS = 500
/** Time for which a renewal counts, from the moment at which it was sent: the database noted it later than that. */
const HELD_MS = LEASE_MS - MARGIN_MS

/** A term during which this process leads. */
interface Term {
  readonly lease: Lease
  readonly work: AsyncDisposableStack
  /** Resolves when `lead` has returned. */
  started: Promise<void>
  /** Resolves when the work has ended; `undefined` while nobody ended it. */
  ended: Promise<void> | undefined
  /** Time until which the lease counts as held, by the monotonic clock. */
  heldUntilMs: number
}

function newTerm(lease: Lease, heldUntilMs: number): Term {
  return { lease, work: new AsyncDisposableStack(), started: Promise.resolve(), ended: undefined, heldUntilMs }
}

/** Takes a lease as soon as it is free, leads while it is held, and stops when it is lost, until it is closed. */
export function openLease(options: LeaseOptions): LeaseRounds {
  const { store, name, holder, lead, tell, log, monotonicMs = () => performance.now(), every = everyInterval } = options
  const { mayLead = () => true } = options
  const scope = { name: `lease ${name.role} ${name.chain}` } as const
  let term: Term | undefined
  let lastEnded: Promise<void> = Promise.resolve()
  let isClosing = false

  function lose(of: Term, why: string): void {
    if (term !== of) return
    term = undefined
    log.warn({ ...name, token: Number(of.lease.token) }, `the lead is lost: ${why}`)
    lastEnded = endWork(of, log)
  }

  async function acquire(): Promise<void> {
    await lastEnded
    if (isClosing || !mayLead() || !(await isLeaseFree(store.read, name, holder))) return
    const sentMs = monotonicMs()
    const token = await store.transaction(scope, (sql) => acquireLease(sql, name, holder))
    if (token === undefined) return
    const lease: Lease = {
      ...name,
      holder,
      token,
      isHeld: () => term === gained && monotonicMs() < gained.heldUntilMs && mayLead(),
      noteLost: () => lose(gained, 'another node leads'),
    }
    const gained = newTerm(lease, sentMs + HELD_MS)
    term = gained
    log.info({ ...name, token: Number(token) }, 'this node leads')
    gained.started = Promise.try(lead, gained.lease, gained.work).catch((error: unknown) => {
      log.error({ ...name, err: error }, 'the work of a role could not begin; it is tried again')
      lose(gained, 'its work could not begin')
    })
  }

  async function renew(of: Term): Promise<void> {
    const sentMs = monotonicMs()
    const isOurs = await store.transaction(scope, (sql) => renewLease(sql, of.lease, tell?.()))
    if (isOurs) of.heldUntilMs = sentMs + HELD_MS
    else lose(of, 'another node leads')
  }

  function look(): void {
    if (term === undefined || term.lease.isHeld()) return
    lose(term, mayLead() ? 'it could not be renewed in time' : 'this node may not lead now')
  }

  const onError = (error: unknown): void => log.error({ ...name, err: error }, 'a lease could not be taken or renewed')
  const first = acquire().catch(onError)
  const rounds = every(RENEW_MS, () => first.then(() => (term === undefined ? acquire() : renew(term))), { onError })
  const looks = every(LOOK_MS, look)

  return {
    tried: first.then(() => term?.started),
    isHeld: () => term?.lease.isHeld() ?? false,
    async close() {
      isClosing = true
      // Renewals go on until the work has ended, so that its last transactions are not refused.
      if (term !== undefined) await endWork(term, log)
      await rounds.close()
      await first
      await looks.close()
      await lastEnded
      const last = term
      if (last === undefined) return
      await endWork(last, log)
      term = undefined
      await store.transaction(scope, (sql) => releaseLease(sql, last.lease)).catch(onError)
    },
  }
}

/** Ends the work of a term. Resolves when nothing of it is under way any more; never rejects. */
function endWork(of: Term, log: LeaseOptions['log']): Promise<void> {
  of.ended ??= of.started
    .then(() => of.work.disposeAsync())
    .catch((error: unknown) =>
      log.error({ role: of.lease.role, chain: of.lease.chain, err: error }, 'a role could not end its work'),
    )
  return of.ended
}

/**
 * Returns the store for the work of a leader. Each transaction holds the lease until its commit, and is refused with a
 * `LeaseLostError` when the lease is another's.
 */
export function fenced(store: Store, lease: Lease): Store {
  return {
    ...store,
    transaction: (scope, work) => store.transaction(scope, (sql) => withinLease(sql, lease, () => work(sql))),
  }
}

/** Returns the log for the work of a leader, see `fenced`. */
export function fencedLog<Log extends Pick<AccountLog, 'transaction'>>(log: Log, lease: Lease): Log {
  const transaction: AccountLog['transaction'] = (scope, origin, work) =>
    log.transaction(scope, origin, (sql, journal, at) => withinLease(sql, lease, () => work(sql, journal, at)))
  return { ...log, transaction }
}

/**
 * Runs the work of a transaction. The lease is asked for together with the first statement of the work, and its answer
 * is judged before the commit.
 */
async function withinLease<Result>(sql: Transaction, lease: Lease, work: () => Promise<Result>): Promise<Result> {
  if (!lease.isHeld()) throw lost(lease)
  const held = holdLease(sql, lease)
  held.catch(() => undefined)
  try {
    const result = await work()
    if (await held) return result
  } catch (error) {
    // What another leader changed makes work fail, too.
    if (await held.catch(() => true)) throw error
  }
  lease.noteLost()
  throw lost(lease)
}

function lost({ role, chain }: Lease): LeaseLostError {
  return new LeaseLostError(`this node does not lead any more as ${role}${chain === '' ? '' : ` of ${chain}`}`)
}
